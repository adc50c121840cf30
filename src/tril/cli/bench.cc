// tril bench: how fast tril is here, beside other programs.
#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "tril/base/error.h"
#include "tril/base/file.h"
#include "tril/base/quote.h"
#include "tril/base/suggest.h"
#include "tril/cli/bench_allreduce.h"
#include "tril/cli/bench_kernels.h"
#include "tril/cli/bench_peers.h"
#include "tril/cli/commands.h"
#include "tril/cli/output.h"

namespace tril::cli {

namespace {

// NAME=PATH, both checked.
std::pair<std::string, std::string> named_program(const std::string& given) {
  const size_t mark = given.find('=');
  const std::string name = given.substr(0, mark);
  const auto& names = program_names();
  if (mark == std::string::npos) refuse("--program {}: write NAME=PATH", in_quotes(given));
  if (std::find(names.begin(), names.end(), name) == names.end())
    refuse("--program: there is no {}{}", in_quotes(name), nearest_hint(name, names));
  const std::string path = given.substr(mark + 1);
  if (!file_exists(path)) refuse("--program {}: {} is not there", name, in_quotes(path));
  return {name, path};
}

struct Asked {
  std::string what;
  std::vector<std::string> rows;
  std::optional<double> seconds;
  std::vector<std::string> programs;
  std::optional<std::string> text, shakespeare;
  bool no_compile = false;
};

PeerSettings peer_settings(const Asked& asked) {
  PeerSettings settings;
  settings.only = asked.rows, settings.compile = !asked.no_compile;
  settings.text = asked.text.value_or("");
  settings.shakespeare = asked.shakespeare.value_or("");
  for (const std::string& given : asked.programs) settings.programs.push_back(named_program(given));
  for (const std::string& path : {settings.text, settings.shakespeare})
    if (!path.empty()) read_file(path);  // refused here where it can't be read
  return settings;
}

int time_sums(double seconds, const Common& common) {
  const std::unique_ptr<Ranks> ranks = join_ranks();
  if (ranks == nullptr) refuse("bench allreduce times sums over ranks: mpirun -n 2 tril bench allreduce");
  const nlohmann::ordered_json document = bench_allreduce(*ranks, seconds);
  if (ranks->leads() && common.json) print_json(document);
  if (ranks->leads() && !common.json) print(allreduce_text(document));
  ranks->leave();
  return kExitDone;
}

}  // namespace

Action declare_bench(Options& options) {
  auto asked = std::make_shared<Asked>();
  options.word(
      "kernels|peers|allreduce", asked->what,
      "kernels: each op's rate as a share of this machine's; peers: the same training in other programs, "
      "interleaved, the ratio being the result; allreduce: sums over the ranks that mpirun started");
  options.real("--seconds", asked->seconds, 0, 60, "kernels, allreduce: time for each figure (default: 0.2)");
  options.texts("--row", "NAME", asked->rows, "only this row: a peers' name, or an op");
  options.flag("--no-compile", asked->no_compile,
               "PyTorch eager only; torch.compile takes a minute or more a row");
  options.texts(
      "--program", "NAME=PATH", asked->programs,
      "peers: a built program: microgpt.py, microgpt-c, microgpt-c-64, microgpt.cpp, microgpt.cpp-64, "
      "llm.c or llama2.c (-64: built with width 64)");
  options.text("--data", "FILE", asked->text, "peers: text of the tokenizer rows (default: 3,000 tales)");
  options.text(
      "--shakespeare", "FILE", asked->shakespeare,
      "peers: tinyshakespeare.txt, for the rows of the time to a loss (without it they are skipped)");
  options.remark(
      "The peers run in the environment that tril setup peers makes, or by TRIL_PYTHON. Let nothing else "
      "run.");
  return [asked](const Common& common) {
    const std::vector<std::string> known = {"kernels", "peers", "allreduce"};
    if (asked->what == "allreduce") return time_sums(asked->seconds.value_or(0.2), common);
    const bool kernels = asked->what == "kernels";
    if (!kernels && asked->what != "peers")
      refuse("there is no benchmark {}{}", in_quotes(asked->what), nearest_hint(asked->what, known));
    if (!kernels && asked->seconds)
      refuse("--seconds is of bench kernels; a row of bench peers has its own length");
    const nlohmann::ordered_json document = kernels ? bench_kernels(asked->seconds.value_or(0.2), asked->rows)
                                                    : bench_peers(peer_settings(*asked));
    if (common.json)
      print_json(document);
    else
      print(kernels ? kernels_text(document) : peers_text(document));
    return kExitDone;
  };
}

}  // namespace tril::cli
