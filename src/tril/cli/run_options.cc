// Options and texts that the commands on runs share.
#include "tril/cli/run_options.h"

#include <unistd.h>

#include <array>
#include <cerrno>

#include "tril/base/error.h"
#include "tril/base/interrupt.h"
#include "tril/base/log.h"
#include "tril/generate/samples.h"

namespace tril::cli {
namespace {

std::string read_input() {
  std::string text;
  std::array<char, 65536> buffer{};
  while (true) {
    const ssize_t n = read(STDIN_FILENO, buffer.data(), buffer.size());
    interrupt::check();
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) refuse("standard input can't be read");
    if (n == 0) return text;
    text.append(buffer.data(), static_cast<size_t>(n));
  }
}

}  // namespace

RunOverrides overrides(const Common& common) {
  return {common.engine.value_or(""), common.dtype.value_or("")};
}

LoopOptions loop_options(const RunFolder& folder) {
  LoopOptions options;
  options.begun = [path = folder.path()] { log::note("run: {}", path); };
  options.samples = training_samples;
  return options;
}

std::string text_or_input(const std::string& text) {
  return text == "-" ? read_input() : text;
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
