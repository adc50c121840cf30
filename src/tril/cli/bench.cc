// tril bench: how fast tril is here, beside other programs.
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "tril/base/error.h"
#include "tril/base/quote.h"
#include "tril/cli/bench_kernels.h"
#include "tril/cli/bench_peers.h"
#include "tril/cli/commands.h"
#include "tril/cli/output.h"

namespace tril::cli {

Action declare_bench(Options& options) {
  struct Asked {
    std::string what;
    std::vector<std::string> rows;
    std::optional<double> seconds;
    bool no_compile = false;
  };
  auto asked = std::make_shared<Asked>();
  options.word(
      "kernels|peers", asked->what,
      "kernels: each op's rate as a share of this machine's; peers: the same training in other programs, "
      "interleaved, the ratio being the result");
  options.real("--seconds", asked->seconds, 0, 60, "kernels: time for each figure (default: 0.2)");
  options.texts("--row", "NAME", asked->rows, "peers: only this row");
  options.flag("--no-compile", asked->no_compile,
               "PyTorch eager only; torch.compile takes a minute or more a row");
  options.remark(
      "The peers run in the environment that tril setup peers makes, or by TRIL_PYTHON. Let nothing else "
      "run.");
  return [asked](const Common& common) {
    if (asked->what != "peers") refuse("there is no benchmark {}; there is: peers", in_quotes(asked->what));
    const nlohmann::ordered_json document = bench_peers(asked->rows, !asked->no_compile);
    if (common.json)
      print_json(document);
    else
      print(peers_text(document));
    return kExitDone;
  };
}

}  // namespace tril::cli
