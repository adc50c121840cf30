// tril eval: the loss of a run's model over a whole part of its text, or over another text.
#include <fmt/chrono.h>
#include <fmt/format.h>

#include <cmath>
#include <ctime>
#include <memory>
#include <nlohmann/json.hpp>

#include "tril/base/error.h"
#include "tril/base/file.h"
#include "tril/base/progress.h"
#include "tril/base/table.h"
#include "tril/cli/commands.h"
#include "tril/cli/output.h"
#include "tril/cli/request.h"
#include "tril/cli/run_options.h"
#include "tril/data/corpus.h"
#include "tril/train/evaluation.h"
#include "tril/train/import_run.h"
#include "tril/train/loaded_run.h"
#include "tril/train/run_data.h"
#include "tril/train/run_folder.h"
#include "tril/train/trainer.h"

namespace tril::cli {
namespace {

using Json = nlohmann::ordered_json;

struct Asked {
  std::string run;
  std::optional<std::string> split, data;
  std::optional<int64_t> step;
};

// Another text than the run's own, which is evaluated whole.
Corpus other_corpus(const LoadedRun& run, const std::string& path) {
  Config config = run.config;
  config.data.path = path;
  config.data.text = "";
  config.data.repeat = 1;
  config.data.stories = 0;
  config.data.split = "none";
  return read_text(config, run.tokenizer);
}

// Each look at the test part is written into the run: a part that is looked at often is no test any more.
void record_touch(const std::string& run, const Json& document) {
  Json line = {{"time", fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr)))}};
  line.update(document);
  RunFolder::view(run).record("test.jsonl", line.dump());
}

Json document_of(const std::optional<Evaluation>& found, const std::string& split, int64_t step,
                 int64_t bytes, bool lossy) {
  Json document = {{"split", split}, {"loss", nullptr}, {"perplexity", nullptr}, {"bits_per_byte", nullptr}};
  if (found) {
    document["loss"] = found->loss();
    document["perplexity"] = found->perplexity();
    if (bytes > 0) document["bits_per_byte"] = found->bits_per_byte(bytes);
  }
  document["targets"] = found ? found->targets : 0;
  document["lossy"] = lossy;
  document["step"] = step;
  return document;
}

int evaluate_run(const Asked& asked, const Common& common) {
  const LoadedRun run = load_run(asked.run, asked.step, overrides(common));
  if (!asked.data && run.imported) refuse_imported(run.path);
  if (!asked.data && asked.split == "test") require_writable(asked.run);  // the touch must be recorded
  const Corpus corpus = asked.data ? other_corpus(run, *asked.data) : open_corpus(run);
  const std::string split = asked.data ? "data" : asked.split.value_or("validation");
  const Part part = asked.data ? Part::kTrain : split == "test" ? Part::kTest : Part::kValidation;
  Tape tape(tape_options(run.config.run, false));
  warn_of_seen_targets(run);
  Progress progress("evaluation", corpus.audit.parts[static_cast<size_t>(part)].targets);
  const std::optional<Evaluation> found = evaluate(*run.model, tape, corpus.part(part), 0, &progress);
  progress.finish();
  if (found && !std::isfinite(found->loss()))
    refuse("{}: the loss is {}: the model's weights are not all finite numbers (tril show {})", run.path,
           found->loss(), run.path);
  const Json document =
      document_of(found, split, run.step, corpus.audit.parts[static_cast<size_t>(part)].text_bytes,
                  run.tokenizer->lossy());
  if (part == Part::kTest) record_touch(asked.run, document);
  if (common.json) {
    print_json(document);
  } else if (found) {
    const Json& bits = document["bits_per_byte"];
    const std::string per_byte = bits.is_number()
                                     ? fmt::format(", {:.4f} bits per byte{}", bits.get<double>(),
                                                   run.tokenizer->lossy() ? " (of the normalized text)" : "")
                                     : "";
    print(fmt::format("{}: loss {:.4f}, perplexity {:.2f}{}, {}, step {}\n", split, found->loss(),
                      found->perplexity(), per_byte, counted(found->targets, "target"),
                      with_commas(run.step)));
  } else {
    print(fmt::format("{}: no targets, so there is no loss\n", split));
  }
  return kExitDone;
}

}  // namespace

Action declare_eval(Options& options) {
  auto asked = std::make_shared<Asked>();
  options.word("RUN", asked->run, "the run's folder");
  options.choice("--split", {"validation", "test"}, asked->split,
                 "the part of the run's text (default: validation)");
  options.text("--data", "PATH", asked->data, "the whole of another text instead");
  options.integer("--at", asked->step, 0, 1000000000, "the checkpoint of this step (default: the best)");
  options.remark("Each look at the test part is written into the run, in test.jsonl.");
  return [asked](const Common& common) {
    if (asked->split && asked->data)
      refuse("--split and --data exclude each other: another text is evaluated whole");
    return evaluate_run(*asked, common);
  };
}

}  // namespace tril::cli
