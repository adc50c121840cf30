// bench kernels: what it measures, and its document. No time is asserted.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>

#include "program.h"
#include "tril/cli/bench_works.h"
#include "tril/ops/op_table.h"
#include "tril/train/config.h"

namespace tril {
namespace {

using Json = nlohmann::json;
using testing::HasSubstr;

TEST(BenchKernels, EveryOpOfTheTableIsMeasuredInEveryPreset) {
  std::set<std::string> ops, presets;
  for (const cli::Measured& work : cli::all_works(1e10, 1e8)) {
    ops.insert(work.fast.op);
    presets.insert(work.fast.place.substr(0, work.fast.place.find(',')));
    const OpSpec* spec = find_op(work.fast.op);
    ASSERT_NE(spec, nullptr) << work.fast.op;
    EXPECT_LE(work.fast.shapes.size(), spec->arguments.size()) << work.fast.op;
    if (work.fast.op != "concat") {  // a view
      EXPECT_NE(work.fast.flops > 0, work.fast.bytes > 0) << work.fast.op << ": flops or bytes";
    }
    EXPECT_LE(work.plain.flops, work.fast.flops) << work.fast.op;
    EXPECT_EQ(work.plain.op, work.fast.op);
  }
  for (const OpSpec* spec : op_table())
    EXPECT_TRUE(ops.count(spec->name)) << spec->name << " is not measured";
  for (const char* preset : {"one-head-smoke", "window-mlp", "microgpt-16", "shakespeare-char", "gpt2-124m"})
    EXPECT_TRUE(presets.count(preset)) << preset;
}

// GPT-2's up-projection on a batch of 4 × 256: 2 · 1024 · 768 · 3072 flops; its head on a whole batch would
// take 79e9, so that fewer tokens are taken.
TEST(BenchKernels, ShapesAreThePresetsAndLargeOnesAreCut) {
  ModelConfig gpt2 = resolve(preset_config("gpt2-124m")).model;
  gpt2.vocab_size = 50257;
  double up = 0;
  for (const cli::Work& work : cli::works_of("gpt2-124m", gpt2, 4, 256))
    if (work.place == "gpt2-124m, MLP, up") {
      up = work.flops;
      EXPECT_EQ(work.shapes, (std::vector<Shape>{{4, 256, 768}, {3072, 768}, {3072}}));
    }
  EXPECT_EQ(up, 2.0 * 1024 * 768 * 3072);
  for (const cli::Measured& work : cli::all_works(1e10, 1e8))
    if (work.fast.place == "gpt2-124m, head and loss") {
      EXPECT_EQ(work.fast.shapes[0], (Shape{1, 128, 768}));
      EXPECT_EQ(work.plain.shapes[0], (Shape{1, 1, 768}));
    }
}

TEST(BenchKernels, TheDocument) {
  const ProgramResult result = run_program({"bench", "kernels", "--seconds", "0", "--row", "rms_norm",
                                            "--row", "matmul", "--row", "last_row", "--json"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const Json document = Json::parse(result.out);
  for (const char* field :
       {"threads", "gflops", "gflops_one_core", "read_gb_per_second", "read_gb_per_second_one_core"})
    EXPECT_GT(document["machine"][field].get<double>(), 0) << field;
  EXPECT_TRUE(document["machine"]["vector_level"].is_string());
  std::set<std::string> ops;
  for (const Json& row : document["kernels"]) {
    ops.insert(row["op"].get<std::string>());
    EXPECT_FALSE(row["place"].get<std::string>().empty());
    EXPECT_FALSE(row["shapes"].get<std::string>().empty());
    for (const char* pass : {"forward", "backward"}) {
      for (const char* field : {"ms", "rate", "share", "gain"})
        EXPECT_GT(row[pass][field].get<double>(), 0) << field;
      EXPECT_EQ(row[pass]["unit"].get<std::string>(), row["op"] == "matmul" ? "GFLOP/s" : "GB/s");
    }
    EXPECT_GT(row["gain"].get<double>(), 0);
  }
  EXPECT_EQ(ops, (std::set<std::string>{"last_row", "matmul", "rms_norm"}));
  for (const Json& row : document["slow"]) {
    EXPECT_LT(row["gain"].get<double>(), 1.2);
    EXPECT_FALSE(row["why"].get<std::string>().empty());
  }
}

TEST(BenchKernels, TheTableAndWhatIsRefused) {
  const ProgramResult table = run_program({"bench", "kernels", "--seconds", "0", "--row", "concat"});
  ASSERT_EQ(table.exit_code, 0) << table.err;
  EXPECT_THAT(table.out, HasSubstr("multiply-adds"));
  EXPECT_THAT(table.out, HasSubstr("as in"));
  EXPECT_THAT(table.out, HasSubstr("window-mlp"));
  const ProgramResult op = run_program({"bench", "kernels", "--row", "rmsnorm"});
  EXPECT_EQ(op.exit_code, 2);
  EXPECT_THAT(op.err, HasSubstr("there is no op 'rmsnorm'; the nearest is 'rms_norm'"));
  const ProgramResult what = run_program({"bench", "kernel"});
  EXPECT_EQ(what.exit_code, 2);
  EXPECT_THAT(what.err, HasSubstr("there is no benchmark 'kernel'; the nearest is 'kernels'"));
}

}  // namespace
}  // namespace tril
