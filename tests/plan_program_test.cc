// What a run is planned to take, beside what it takes; and a run whose steps the clock settles. It asserts no
// time.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "program.h"
#include "tril/base/file.h"

namespace tril {
namespace {

using Json = nlohmann::json;
using testing::HasSubstr;

std::string some_text(int64_t bytes) {
  const std::vector<std::string> words = {"the", "cat", "sat", "on", "a", "mat", "and", "saw", "one", "dog"};
  std::string text;
  for (uint64_t n = 1; static_cast<int64_t>(text.size()) < bytes;
       n = n * 6364136223846793005U + 1442695040888963407U)
    text += words[(n >> 40) % words.size()] + ((n >> 33) % 12 == 0 ? ".\n\n" : " ");
  return text;
}

struct Planned {
  std::string preset;
  std::vector<std::string> options;
};

class PlanProgram : public testing::TestWithParam<Planned> {};

// Within 15% of the peak that the run measures.
TEST_P(PlanProgram, PlannedBytesAreTheMeasuredPeak) {
  const TemporaryFolder folder;
  const ProgramOptions here{.folder = folder.path()};
  std::ofstream(folder / "my.txt") << some_text(400000);
  std::vector<std::string> words = {"train", GetParam().preset};
  words.insert(words.end(), GetParam().options.begin(), GetParam().options.end());
  std::vector<std::string> dry = words, wet = words;
  dry.insert(dry.end(), {"--dry-run", "--json"});
  wet.insert(wet.end(), {"--json", "--quiet"});
  const ProgramResult plan = run_program(dry, here), run = run_program(wet, here);
  ASSERT_EQ(plan.exit_code, 0) << plan.err;
  ASSERT_EQ(run.exit_code, 0) << run.err;
  const Json planned = Json::parse(plan.out);
  const auto bytes = planned["planned_bytes"].get<double>(),
             peak = Json::parse(run.out)["peak_bytes"].get<double>();
  EXPECT_NEAR(bytes / peak, 1, 0.15) << planned["bytes"].dump() << " against " << peak;
  EXPECT_GT(planned["planned_seconds"].get<double>(), 0);
}

INSTANTIATE_TEST_SUITE_P(
    Presets, PlanProgram,
    testing::Values(
        Planned{"one-head-smoke", {"--steps", "20"}}, Planned{"window-mlp", {"--steps", "20"}},
        Planned{"names-char", {"--data", "my.txt", "--steps", "5"}},
        Planned{"shakespeare-char", {"--data", "my.txt", "--steps", "3"}},
        Planned{"shakespeare-char", {"--data", "my.txt", "--steps", "3", "--set", "train.recipe=modern"}},
        Planned{
            "shakespeare-char",
            {"--data", "my.txt", "--steps", "3", "--set", "train.batch=64", "--set", "train.recompute=true"}},
        Planned{"gpt2-124m",
                {"--data", "my.txt", "--steps", "1", "--set", "model.layers=2", "--set", "train.block=64"}}),
    [](const auto& p) {
      std::string name = p.param.preset + std::to_string(p.index);
      std::erase(name, '-');
      return name;
    });

// A program that was started by a large one has a peak of its own.
TEST(PeakProgram, IsNotItsParents) {
  const std::vector<char> large(size_t{300} << 20, 1);
  const TemporaryFolder folder;
  const ProgramResult run =
      run_program({"train", "tiny-gpt-abc", "--steps", "1", "--json", "--quiet"}, {.folder = folder.path()});
  ASSERT_EQ(run.exit_code, 0) << run.err;
  EXPECT_LT(Json::parse(run.out)["peak_bytes"].get<double>(), 200e6) << large.back();
}

// The clock settles one number; a run with that number gives the same bits.
TEST(TimeBudgetProgram, TheSettledRunIsAPlainOneToTheSameBits) {
  const TemporaryFolder folder;
  const ProgramOptions here{.folder = folder.path()};
  const ProgramResult timed = run_program({"train", "one-head-smoke", "--set", "data.stories=60", "--set",
                                           "train.batch=64", "--minutes", "0.03", "--out", "timed", "--json"},
                                          here);
  ASSERT_EQ(timed.exit_code, 0) << timed.err;
  EXPECT_THAT(timed.err, HasSubstr("the run ends after "));
  const auto steps = Json::parse(timed.out)["steps"].get<int64_t>();
  const std::string settings = read_file(folder / "timed/config.toml");
  EXPECT_THAT(settings, HasSubstr(fmt::format("steps = {} ", steps)));
  EXPECT_THAT(settings, HasSubstr("minutes = 0.0 "));

  const ProgramResult plain =
      run_program({"train", "timed/config.toml", "--out", "plain", "--json", "--quiet"}, here);
  ASSERT_EQ(plain.exit_code, 0) << plain.err;
  const std::string last = fmt::format("/checkpoints/step-{:08}/model.safetensors", steps);
  EXPECT_EQ(read_file(folder / ("timed" + last)), read_file(folder / ("plain" + last)));
}

// The plan of a dialled run is its time; nothing is written.
TEST(TimeBudgetProgram, TheDialSaysWhatItChoseAndWhy) {
  const TemporaryFolder folder;
  const ProgramOptions here{.folder = folder.path()};
  std::ofstream(folder / "my.txt") << some_text(20000);
  const ProgramResult dry =
      run_program({"train", "--data", "my.txt", "--minutes", "100", "--dry-run", "--json"}, here);
  ASSERT_EQ(dry.exit_code, 0) << dry.err;
  for (const char* part : {"text: ", "machine: ", "model: ", "steps: about "})
    EXPECT_THAT(dry.err, HasSubstr(part));
  EXPECT_EQ(Json::parse(dry.out)["planned_seconds"].get<double>(), 6000);
  EXPECT_FALSE(std::filesystem::exists(folder / "runs"));
}

// Steps, the time of one and the whole time are of one measurement.
TEST(TimeBudgetProgram, APlannedTimeIsItsStepsTimesTheirTime) {
  const TemporaryFolder folder;
  const ProgramOptions here{.folder = folder.path()};
  std::ofstream(folder / "my.txt") << some_text(20000);
  for (const auto& words :
       {std::vector<std::string>{"train", "my.txt", "--minutes", "30"},
        std::vector<std::string>{"train", "window-mlp", "--data", "my.txt", "--minutes", "30"}}) {
    std::vector<std::string> dry = words;
    dry.insert(dry.end(), {"--set", "train.eval_every=100000000", "--dry-run", "--json"});
    const ProgramResult result = run_program(dry, here);
    ASSERT_EQ(result.exit_code, 0) << result.err;
    const Json plan = Json::parse(result.out);
    const double seconds = plan["steps"].get<double>() * plan["step_seconds"].get<double>();
    EXPECT_LE(seconds, 1800);
    EXPECT_GE(seconds, 1000) << "the rest are the lines of metrics.jsonl: " << plan.dump();
  }
}

// A text alone is as good as --data: the dial chooses a model for it.
TEST(TimeBudgetProgram, ATextWithATimeIsDialled) {
  const TemporaryFolder folder;
  const ProgramOptions here{.folder = folder.path()};
  std::ofstream(folder / "my.txt") << some_text(20000);
  const ProgramResult run = run_program({"train", "my.txt", "--minutes", "0.15", "--json"}, here);
  ASSERT_EQ(run.exit_code, 0) << run.err;
  EXPECT_THAT(run.err, HasSubstr("model: "));
  EXPECT_TRUE(std::filesystem::exists(folder / "runs/my/result.json"));
  const std::string settings = read_file(folder / "runs/my/config.toml");
  EXPECT_THAT(settings, HasSubstr("family = \"decoder\""));
  EXPECT_THAT(settings, HasSubstr("recipe = \"modern\""));
  // Measuring two models first took no more memory than the chosen one.
  const ProgramResult plain =
      run_program({"train", "runs/my/config.toml", "--out", "plain", "--json", "--quiet"}, here);
  ASSERT_EQ(plain.exit_code, 0) << plain.err;
  EXPECT_LE(Json::parse(run.out)["peak_bytes"].get<double>(),
            1.15 * Json::parse(plain.out)["peak_bytes"].get<double>());
}

// A dry run makes the folder and takes it away again, so that what can't be made is told.
TEST(PlanOnly, AFolderThatCantBeMadeIsRefused) {
  const ProgramResult result = run_program({"train", "--dry-run", "--out", "/proc/x"});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.err, HasSubstr("/proc/x"));
  const TemporaryFolder folder;
  EXPECT_EQ(run_program({"train", "--dry-run", "--out", "a/b"}, {.folder = folder.path()}).exit_code, 0);
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

TEST(TimeBudgetProgram, BadTimesAreRefused) {
  const TemporaryFolder folder;
  const ProgramOptions here{.folder = folder.path()};
  const ProgramResult soon = run_program({"train", "--data", "tales", "--minutes", "0.0001"}, here);
  EXPECT_EQ(soon.exit_code, 2);
  EXPECT_THAT(soon.err, HasSubstr(" would do"));
  EXPECT_EQ(run_program({"train", "--minutes", "1", "--steps", "5"}, here).err,
            "tril: --minutes and --steps both say when to end; give one\n");
  EXPECT_EQ(run_program({"train", "--minutes", "0"}, here).exit_code, 2);
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

// --profile leaves a trace that any JSON reader opens, and changes no bit of the run.
TEST(ProfileProgram, WritesATraceAndNamesTheDearestOps) {
  const TemporaryFolder folder;
  const ProgramOptions here{.folder = folder.path()};
  const std::vector<std::string> words = {"train", "--set", "data.stories=60", "--steps", "6", "--json"};
  std::vector<std::string> with = words, without = words;
  with.insert(with.end(), {"--profile", "--out", "with"});
  without.insert(without.end(), {"--out", "without"});
  const ProgramResult a = run_program(with, here), b = run_program(without, here);
  ASSERT_EQ(a.exit_code, 0) << a.err;
  ASSERT_EQ(b.exit_code, 0) << b.err;
  EXPECT_THAT(a.err, HasSubstr("step 5's dearest ops:"));
  EXPECT_FALSE(Json::parse(read_file(folder / "with/profile.json"))["traceEvents"].empty());
  EXPECT_FALSE(std::filesystem::exists(folder / "without/profile.json"));
  const std::string last = "/checkpoints/step-00000006/model.safetensors";
  EXPECT_EQ(read_file(folder / ("with" + last)), read_file(folder / ("without" + last)));
}

}  // namespace
}  // namespace tril
