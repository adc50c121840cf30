// tril show: what a file or a run holds.
#include "tril/explore/show.h"

#include <memory>

#include "tril/base/error.h"
#include "tril/base/log.h"
#include "tril/cli/commands.h"
#include "tril/cli/output.h"

namespace tril::cli {

Action declare_show(Options& options) {
  auto path = std::make_shared<std::string>();
  options.word("FILE|FOLDER", *path, "safetensors, tokenizer.json, config.toml, a checkpoint or a run");
  options.remark("Every byte is read and checked; NaN, infinities and gaps in ids give a warning.");
  return [path](const Common& common) {
    const Shown shown = show(*path);
    for (const std::string& warning : shown.warnings) log::warning_line(warning);
    print(common.json ? shown_as_json(shown) + "\n" : shown_as_text(shown));
    return kExitDone;
  };
}

}  // namespace tril::cli
