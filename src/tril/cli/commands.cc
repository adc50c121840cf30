// The list of commands.
#include "tril/cli/commands.h"

#include <algorithm>
#include <array>

#include "tril/base/error.h"
#include "tril/base/quote.h"
#include "tril/base/suggest.h"
#include "tril/base/typed.h"

namespace tril::cli {
namespace {

constexpr std::array kCommands = {
    Command{"demo", "the whole way in plain words: by hand, checked, trained, writing", declare_demo},
    Command{"train", "train a model: a preset, a file of settings, or a text", declare_train},
    Command{"resume", "go on with a run that was stopped", declare_resume},
    Command{"eval", "the loss of a run over a whole part of its text, or another text", declare_eval},
    Command{"generate", "text from a run, token by token", declare_generate},
    Command{"score", "how well a run foresees a text, token by token", declare_score},
    Command{"check", "invariants, gradients and more, each against its limit", declare_check},
    Command{"trace", "every named value of one prediction", declare_trace},
    Command{"presets", "the models that are ready to train", declare_presets},
    Command{"config", "the settings of a preset, as a TOML file to edit", declare_config},
    Command{"data audit", "what a text is made of: documents, words, duplicates, trouble",
            declare_data_audit},
    Command{"data tokenize", "the tokens of a text", declare_data_tokenize},
    Command{"data train-tokenizer", "byte-level BPE merges from a text", declare_data_train_tokenizer},
    Command{"data tales", "stories from the built-in generator", declare_data_tales},
    Command{"data fetch", "public texts from their pinned addresses", declare_data_fetch},
    Command{"export", "a run's model for other programs: Hugging Face, GGUF, safetensors and more",
            declare_export},
    Command{"import", "a model that another program wrote, as a run", declare_import},
    Command{"show", "what a file or a run holds, every byte read and checked", declare_show},
    Command{"bench", "how fast tril is here, beside other programs", declare_bench},
    Command{"setup", "the Python environment for parity numbers and peers", declare_setup},
    Command{"route", "the map from text to checkpoint, and from prompt to stop", declare_route},
    Command{"version", "the program's version, its libraries, vector level and threads", declare_version},
    Command{"help", "this list, or the options of a command", declare_help},
};

// "; the nearest is 'data tokenize'", also for its second word alone.
std::string command_hint(std::string_view name) {
  std::vector<std::string> known, full;
  for (const Command& command : commands()) {
    const std::string_view words = command.name;
    known.emplace_back(words);
    full.emplace_back(words);
    const size_t blank = words.find(' ');
    if (blank == words.npos) continue;
    known.emplace_back(words.substr(blank + 1));
    full.emplace_back(words);
  }
  known.emplace_back("data");
  full.emplace_back("data");
  const std::string near = near_name(name, known);
  if (near.empty()) return "";
  const auto at = static_cast<size_t>(std::find(known.begin(), known.end(), near) - known.begin());
  return "; the nearest is '" + full[at] + "'";
}

}  // namespace

std::span<const Command> commands() {
  return kCommands;
}

const Command& find_command(std::string_view name) {
  for (const Command& command : commands())
    if (command.name == name) return command;
  refuse("unknown command {}{}; see: {}{}", in_quotes(name), command_hint(name), typed({"help"}),
         name.starts_with("data ") ? " data" : "");
}

Action declare(const Command& command, Options& options, Common& common) {
  Action action = command.declare(options);
  options.begin_common();
  options.integer("--threads", common.threads, 1, 1024, "threads to use (default: all processors)");
  options.integer("--seed", common.seed, 0, 4294967295, "seed of random draws");
  options.choice("--engine", {"reference", "fast"}, common.engine, "plain loops, or vectorised code");
  options.choice("--dtype", {"f32", "f64"}, common.dtype, "precision; f64 needs --engine reference");
  options.flag("--quiet", common.quiet, "no notes and no progress; warnings stay");
  options.flag("--json", common.json, "one JSON document on standard output, and nothing else there");
  return action;
}

std::string overview() {
  std::string all =
      "tril trains, proves and opens up small causal language models.\n\n"
      "usage: tril COMMAND [options]\n\n";
  size_t width = 0;
  for (const Command& command : commands()) width = std::max(width, std::string_view(command.name).size());
  for (const Command& command : commands()) {
    const std::string name = command.name;
    all += "  " + name + std::string(width - name.size() + 2, ' ') + command.summary + "\n";
  }
  return all +
         "\ntril help COMMAND shows the options of one. Exit codes: 0 done, 1 a check failed, 2 refused,\n"
         "3 training met a number that is not finite, 130 or 143 interrupted with the work saved.\n";
}

std::string commands_page() {
  std::string page =
      "# Commands\n\n"
      "<!-- Made from the program: TRIL_REGENERATE=1 build/release/tril_tests "
      "--gtest_filter='CommandsPage.*' -->\n\n"
      "Results go to standard output, notes, progress and warnings to standard error. A refusal is one line "
      "that names\n"
      "the file, option or key. Exit codes: 0 done, 1 a check failed, 2 refused, 3 training met a number "
      "that is not\n"
      "finite, 130 or 143 interrupted with the work saved.\n";
  std::string common_options;
  for (const Command& command : commands()) {
    Options options(command.name, command.summary);
    Common common;
    declare(command, options, common);
    if (common_options.empty()) {
      common_options = options.common_markdown();
      page += "\nEvery command takes:\n\n" + common_options;
    }
    page += "\n" + options.markdown();
  }
  return page;
}

}  // namespace tril::cli
