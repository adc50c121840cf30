// Options and texts that the commands on runs share.
#include "tril/cli/run_options.h"

#include <algorithm>

#include "tril/base/error.h"
#include "tril/base/log.h"
#include "tril/base/memory.h"
#include "tril/base/progress.h"
#include "tril/base/quote.h"
#include "tril/base/table.h"
#include "tril/base/threads.h"
#include "tril/data/read_text.h"
#include "tril/generate/samples.h"
#include "tril/plan/dial.h"
#include "tril/plan/memory.h"
#include "tril/plan/speed.h"
#include "tril/text/utf8.h"

namespace tril::cli {
namespace {

bool any_bytes(const LoadedRun& run) {
  return run.tokenizer->kind() == "bpe";
}

void refuse_unknown(const LoadedRun& run, const std::string& text) {
  const std::vector<UnknownToken> unknown = run.tokenizer->unknown(text);
  if (unknown.empty()) return;
  const size_t byte = code_point_offset(text, unknown[0].position);
  refuse(
      "text: character {} (byte {}): {} ({}) is not among the {} characters of the vocabulary; "
      "--skip-unknown leaves "
      "it out, --replace-unknown TEXT replaces it",
      unknown[0].position + 1, byte, in_quotes(unknown[0].text),
      code_point_name(code_point_at(text, byte).value),
      run.tokenizer->vocab_size() - (run.tokenizer->bos() ? 1 : 0));
}

}  // namespace

RunOverrides overrides(const Common& common) {
  return {common.engine.value_or(""), common.dtype.value_or("")};
}

LoopOptions loop_options(const RunFolder& folder) {
  LoopOptions options;
  options.begun = [path = folder.path()] { log::note("run: {}", path); };
  options.samples = training_samples;
  options.plan = [](const Config& config, const Corpus& corpus) { tell_plan(config, corpus, 1, 1); };
  return options;
}

// A rank takes its share of each batch.
void tell_plan(const Config& whole, const Corpus& corpus, int ranks, int local) {
  Config config = whole;
  config.train.batch = std::max<int64_t>(1, config.train.batch / ranks);
  const int64_t targets = corpus.audit.parts[static_cast<size_t>(Part::kValidation)].targets;
  const MemoryPlan memory =
      require_memory(config, targets, machine_memory() / local);  // before guess_speed() takes some
  const bool timed = config.train.minutes > 0;
  if (!timed && log::quiet()) return;  // nobody would read the guess, which takes a moment
  const Speed speed = guess_speed(config);
  if (timed) require_time(config, corpus, speed);
  const std::string time =
      timed ? "" : fmt::format("about {} ", short_time(run_seconds(config, corpus, speed).total()));
  log::note("plan: {}{}; {}on {}{}", memory_text(memory), ranks > 1 ? " for each rank" : "", time,
            counted(threads(), "thread"), ranks > 1 ? " of each rank" : "");
}

std::string text_or_input(const LoadedRun& run, const std::string& text) {
  return text == "-" ? read_text(text, any_bytes(run)) : text;
}

std::string text_of_file(const LoadedRun& run, const std::string& path) {
  std::string text = read_text(path, any_bytes(run));
  if (text.empty()) refuse("{}: no text: it is empty", path == "-" ? "standard input" : path);
  return text;
}

void unknown_options(Options& options, UnknownCharacters& unknown) {
  options.flag("--skip-unknown", unknown.skip, "characters that a char vocabulary lacks are left out");
  options.text("--replace-unknown", "TEXT", unknown.replacement, "they become TEXT");
}

std::string known_text(const LoadedRun& run, std::string text, const UnknownCharacters& asked,
                       std::vector<std::string>& lacking) {
  if (!asked.skip && !asked.replacement) {
    if (run.tokenizer->kind() == "char") refuse_unknown(run, text);
    return text;
  }
  const char* option = asked.skip ? "--skip-unknown" : "--replace-unknown";
  if (asked.skip && asked.replacement) refuse("--skip-unknown and --replace-unknown exclude each other");
  if (run.tokenizer->kind() != "char")
    refuse("{}: {} has a {} tokenizer, and only a char vocabulary refuses characters", option, run.path,
           run.tokenizer->kind());
  const std::string instead = asked.replacement.value_or("");
  if (!run.tokenizer->unknown(instead).empty())
    refuse("--replace-unknown {}: it is not among the characters of the vocabulary itself",
           in_quotes(instead));
  const std::vector<UnknownToken> unknown = run.tokenizer->unknown(text);
  if (unknown.empty()) return text;
  std::string known;
  size_t at = 0;  // unknown characters come in the text's order
  for (const UnknownToken& character : unknown) {
    const size_t place = text.find(character.text, at);
    known.append(text, at, place - at).append(instead);
    at = place + character.text.size();
    lacking.push_back(character.text);
  }
  log::warn("{} of the text's characters are not in the vocabulary and {}; the first is {} (character {})",
            with_commas(static_cast<long long>(unknown.size())),
            asked.skip ? "left out" : "become " + in_quotes(instead), in_quotes(unknown[0].text),
            unknown[0].position + 1);
  return known.append(text, at);
}

void at_option(Options& options, std::optional<int64_t>& step) {
  options.integer("--at", step, 0, 1000000000, "the checkpoint of this step (default: the best)");
}

void specials_option(Options& options, bool& specials) {
  options.flag("--specials", specials, "special tokens written in the text become their ids (BPE)");
}

void use_specials(LoadedRun& run, bool specials) {
  if (!specials) return;
  if (run.tokenizer->kind() != "bpe") {
    refuse("--specials: {} has a {} tokenizer, and only BPE has special tokens that can stand in a text",
           run.path, run.tokenizer->kind());
  }
  run.specials = Specials::kAsTokens;
}

}  // namespace tril::cli
