// What the commands that use a run share: the common options over its settings, and texts from the command
// line. What it leaves out: training requests (request.h).
#pragma once
#include <string>

#include "tril/cli/commands.h"
#include "tril/train/loaded_run.h"
#include "tril/train/loop.h"

namespace tril::cli {

/// --engine and --dtype over a run's own.
RunOverrides overrides(const Common& common);

/// What training calls back: the samples of presets that print some, and the run's place once it begins.
LoopOptions loop_options(const RunFolder& folder);

/// The text itself, or all of standard input for "-".
std::string text_or_input(const std::string& text);

/// --specials: special tokens written out in texts become their ids. Throws Refusal for a run without BPE.
void specials_option(Options& options, bool& specials);
void use_specials(LoadedRun& run, bool specials);

/// A checkpoint's step, for --at.
void at_option(Options& options, std::optional<int64_t>& step);

}  // namespace tril::cli
