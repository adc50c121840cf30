// tril data fetch: public texts, pinned.
#include "tril/data/fetch.h"

#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "tril/base/error.h"
#include "tril/base/table.h"
#include "tril/cli/commands.h"
#include "tril/cli/output.h"
#include "tril/train/output_place.h"

namespace tril::cli {

Action declare_data_fetch(Options& options) {
  struct Asked {
    std::string name;
    std::optional<std::string> out;
  };
  auto asked = std::make_shared<Asked>();
  std::string names;
  for (const FetchSource& source : fetch_sources()) names += (names.empty() ? "" : "|") + source.name;
  options.word(names, asked->name, "the text to fetch");
  options.text("--out", "FILE", asked->out, "where to put it (default: its usual name, here)");
  options.remark(
      "The file gets its name only when its size and SHA-256 are the pinned ones. A broken transfer stays "
      "as\n"
      "FILE.part and the same command goes on from it.");
  return [asked](const Common& common) {
    const FetchSource& source = find_fetch_source(asked->name);
    const std::string path = asked->out.value_or(source.file);
    require_output_place(path);
    const FetchResult result = fetch(source, path);
    if (common.json)
      print_json({{"name", source.name},
                  {"path", path},
                  {"bytes", source.bytes},
                  {"sha256", source.sha256},
                  {"licence", source.licence},
                  {"already", result.already},
                  {"resumed_from", result.resumed_from}});
    else
      print(fmt::format("{}: {} bytes, SHA-256 {}{}\n", path, with_commas(source.bytes), source.sha256,
                        result.already ? " (was there already)" : ""));
    return kExitDone;
  };
}

}  // namespace tril::cli
