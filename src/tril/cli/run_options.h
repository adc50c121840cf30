// What the commands that use a run share: the common options over its settings, and texts from the command
// line. What it leaves out: training requests (request.h).
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "tril/cli/commands.h"
#include "tril/train/loaded_run.h"
#include "tril/train/loop.h"

namespace tril::cli {

/// --engine and --dtype over a run's own.
RunOverrides overrides(const Common& common);

/// What training calls back: the samples of presets that print some, and the run's place once it begins.
LoopOptions loop_options(const RunFolder& folder);

/// What every training command says before it starts, and where it refuses what the machine can't hold, or a
/// time that is too short: the plan of one of `ranks`, `local` of which share this machine's memory.
void tell_plan(const Config& config, const Corpus& corpus, int ranks, int local);

/// The text itself, or all of standard input for "-", which is checked as files of text are.
std::string text_or_input(const LoadedRun& run, const std::string& text);
/// The text of a file ("-": standard input) that must not be empty.
std::string text_of_file(const LoadedRun& run, const std::string& path);

/// --skip-unknown and --replace-unknown TEXT: what becomes of characters that a char vocabulary lacks.
struct UnknownCharacters {
  bool skip = false;
  std::optional<std::string> replacement;
};
void unknown_options(Options& options, UnknownCharacters& unknown);
/// The text without the characters that the run's vocabulary lacks, which are warned of and put behind
/// `lacking`. As it is where nothing was asked for. Throws Refusal for a tokenizer that has no such
/// characters.
std::string known_text(const LoadedRun& run, std::string text, const UnknownCharacters& asked,
                       std::vector<std::string>& lacking);

/// --specials: special tokens written out in texts become their ids. Throws Refusal for a run without BPE.
void specials_option(Options& options, bool& specials);
void use_specials(LoadedRun& run, bool specials);

/// A checkpoint's step, for --at.
void at_option(Options& options, std::optional<int64_t>& step);

}  // namespace tril::cli
