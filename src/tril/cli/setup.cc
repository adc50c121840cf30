// tril setup peers: the pinned Python environment that parity numbers, peers and clients run in. The script
// scripts/setup_peers.sh of the sources makes it; this command finds and runs it.
#include <memory>
#include <nlohmann/json.hpp>

#include "tril/base/error.h"
#include "tril/base/file.h"
#include "tril/base/log.h"
#include "tril/base/quote.h"
#include "tril/cli/child.h"
#include "tril/cli/commands.h"
#include "tril/cli/output.h"

namespace tril::cli {

Action declare_setup(Options& options) {
  auto what = std::make_shared<std::string>();
  options.word("peers", *what, "PyTorch and the other programs that tril is compared with");
  options.remark("It is made with pip beside the sources, and takes some minutes and a network.");
  return [what](const Common& common) {
    if (*what != "peers")
      refuse("there is nothing to set up by the name {}; there is: peers", in_quotes(*what));
    const std::string script = source_folder() + "/scripts/setup_peers.sh";
    if (!file_exists(script))
      refuse("{}: is not there; setup needs the sources that this program was built from", script);
    log::note("making the Python environment; the first time takes some minutes");
    const ChildResult made = run_child(std::vector<std::string>{"bash", script, "all"});
    if (made.exit_code != 0)
      refuse("{}: ended with exit code {}; its message stands above", script, made.exit_code);
    const std::string folder = last_line(made.out);
    if (common.json)
      print_json({{"folder", folder}});
    else
      print(folder + "\n");
    return kExitDone;
  };
}

}  // namespace tril::cli
