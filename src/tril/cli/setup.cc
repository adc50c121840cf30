// tril setup peers: the pinned Python environment that parity numbers, peers and clients run in. The script
// scripts/setup_peers.sh of the sources makes it; this command finds and runs it.
#include <sys/wait.h>

#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>

#include "tril/base/error.h"
#include "tril/base/file.h"
#include "tril/base/log.h"
#include "tril/base/quote.h"
#include "tril/cli/commands.h"
#include "tril/cli/output.h"

namespace tril::cli {
namespace {

// A word of the shell, whatever characters the path has.
std::string shell_word(const std::string& text) {
  std::string word = "'";
  for (const char c : text) word += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return word + "'";
}

// Runs the script; returns the last line that it printed, the environment's folder. Its errors go to ours.
std::string run_script(const std::string& script) {
  std::FILE* pipe = popen(("bash " + shell_word(script) + " all").c_str(), "r");
  if (pipe == nullptr) refuse("{}: can't be started", script);
  std::string text;
  char buffer[4096];
  for (size_t n = 0; (n = std::fread(buffer, 1, sizeof buffer, pipe)) > 0;) text.append(buffer, n);
  const int status = pclose(pipe);
  if (status != 0)
    refuse("{}: ended with exit code {}; its message stands above", script, WEXITSTATUS(status));
  while (text.ends_with('\n')) text.pop_back();
  return text.substr(text.rfind('\n') + 1);
}

}  // namespace

Action declare_setup(Options& options) {
  auto what = std::make_shared<std::string>();
  options.word("peers", *what, "PyTorch and the other programs that tril is compared with");
  options.remark("It is made with pip beside the sources, and takes some minutes and a network.");
  return [what](const Common& common) {
    if (*what != "peers")
      refuse("there is nothing to set up by the name {}; there is: peers", in_quotes(*what));
    const std::string script = TRIL_SCRIPTS "/setup_peers.sh";
    if (!file_exists(script))
      refuse("{}: is not there; setup needs the sources that this program was built from", script);
    log::note("making the Python environment; the first time takes some minutes");
    const std::string folder = run_script(script);
    if (common.json)
      print_json({{"folder", folder}});
    else
      print(folder + "\n");
    return kExitDone;
  };
}

}  // namespace tril::cli
