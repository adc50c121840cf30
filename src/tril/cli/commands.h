// The list of commands: name, one line, and the function that declares its options and gives what it does.
// What it leaves out: parsing and errors (frame.cc).
#pragma once
#include <functional>
#include <optional>
#include <span>
#include <string>

#include "tril/cli/options.h"

namespace tril::cli {

/// The options that every command takes.
struct Common {
  std::optional<int64_t> threads, seed;
  std::optional<std::string> engine, dtype;
  bool quiet = false, json = false;
};

/// Runs a command whose options are parsed; returns the exit code.
using Action = std::function<int(const Common&)>;

struct Command {
  const char* name;     // "train", "data audit"
  const char* summary;  // one line for the overview
  Action (*declare)(Options& options);
};

/// Every command, in the order of the help. A plain list: nothing registers itself.
std::span<const Command> commands();

/// The command of that name; throws Refusal with the nearest.
const Command& find_command(std::string_view name);

/// The options of `command`, its own and the common ones, which are stored in `common`.
/// Both must live until the action has run.
Action declare(const Command& command, Options& options, Common& common);

/// What `tril` and `tril help` print, and docs/commands.md.
std::string overview();
std::string commands_page();

// One function a command, each in its own file.
Action declare_demo(Options& options);
Action declare_check(Options& options);
Action declare_trace(Options& options);
Action declare_train(Options& options);
Action declare_resume(Options& options);
Action declare_eval(Options& options);
Action declare_generate(Options& options);
Action declare_score(Options& options);
Action declare_presets(Options& options);
Action declare_data_audit(Options& options);
Action declare_data_tokenize(Options& options);
Action declare_data_train_tokenizer(Options& options);
Action declare_data_tales(Options& options);
Action declare_data_fetch(Options& options);
Action declare_config(Options& options);
Action declare_export(Options& options);
Action declare_import(Options& options);
Action declare_show(Options& options);
Action declare_bench(Options& options);
Action declare_setup(Options& options);
Action declare_route(Options& options);
Action declare_help(Options& options);
Action declare_version(Options& options);

}  // namespace tril::cli
