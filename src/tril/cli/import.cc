// tril import: a model that another program wrote becomes a run.
#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "tril/base/error.h"
#include "tril/base/log.h"
#include "tril/base/memory.h"
#include "tril/base/table.h"
#include "tril/base/typed.h"
#include "tril/cli/commands.h"
#include "tril/cli/output.h"
#include "tril/train/import_run.h"

namespace tril::cli {
namespace {

struct Asked {
  std::string path;
  std::optional<std::string> out, tokenizer;
};

int import_model(const Asked& asked, const Common& common) {
  const ForeignModel foreign = open_foreign_model(asked.path, asked.tokenizer);
  if (!foreign.tokenizer)
    refuse("{}: holds no tokenizer.json; give the tokenizer's file with --tokenizer", asked.path);
  RunFolder::require_new(*asked.out);
  for (const std::string& fault : not_finite(foreign.tensors)) log::warn("{}", fault);
  const std::unique_ptr<Model> model = load_foreign_model(foreign, DType::f32, machine_memory());
  const RunFolder run = write_imported_run(*asked.out, foreign, *model);
  const std::string architecture(architecture_of(foreign.layout));
  const int64_t parameters = model->parameters().count();
  if (common.json) {
    print_json({{"run", run.path()}, {"parameters", parameters}, {"architecture", architecture}});
    return kExitDone;
  }
  print(fmt::format("{}: {}, {}, {}, context {}\n", run.path(), architecture,
                    counted(parameters, "parameter"), counted(model->config().vocab_size, "token"),
                    with_commas(model->config().context)));
  log::note("try: {} --prompt \"...\" --greedy", typed({"generate", run.path()}));
  return kExitDone;
}

}  // namespace

Action declare_import(Options& options) {
  auto asked = std::make_shared<Asked>();
  options.word("PATH", asked->path,
               "a Hugging Face folder or .gguf (GPT-2, Llama), llama2.c's .bin, nanoGPT's .safetensors");
  options.text("--out", "RUN", asked->out, "the run's folder");
  options.required();
  options.text("--tokenizer", "FILE", asked->tokenizer, "a tokenizer file in place of the model's own");
  options.remark("The run has one checkpoint, step 0; weights are turned into f32.");
  return [asked](const Common& common) { return import_model(*asked, common); };
}

}  // namespace tril::cli
