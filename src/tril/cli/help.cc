// tril help [COMMAND].
#include <memory>
#include <nlohmann/json.hpp>

#include "tril/base/error.h"
#include "tril/cli/commands.h"
#include "tril/cli/output.h"

namespace tril::cli {
namespace {

// "tril help data" shows every command of that family.
std::string family_help(const std::string& family) {
  std::string all;
  for (const Command& command : commands()) {
    if (!std::string_view(command.name).starts_with(family + " ")) continue;
    Options options(command.name, command.summary);
    Common common;
    declare(command, options, common);
    all += "  " + options.usage() + "\n      " + command.summary + "\n";
  }
  return all;
}

}  // namespace

Action declare_help(Options& options) {
  auto words = std::make_shared<std::vector<std::string>>();
  options.words("COMMAND", *words, "the command to explain");
  return [words](const Common& common) {
    std::string text;
    if (words->empty()) {
      text = overview();
    } else {
      std::string name = words->front();
      for (size_t i = 1; i < words->size(); ++i) name += " " + (*words)[i];
      text = family_help(name);
      if (text.empty()) {
        const Command& command = find_command(name);
        Options shown(command.name, command.summary);
        Common unused;
        declare(command, shown, unused);
        text = shown.help();
      }
    }
    if (common.json)
      print_json({{"help", text}});
    else
      print(text);
    return kExitDone;
  };
}

}  // namespace tril::cli
