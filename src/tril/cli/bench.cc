// tril bench: how fast tril is here, beside other programs.
#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "tril/base/error.h"
#include "tril/base/file.h"
#include "tril/base/quote.h"
#include "tril/base/suggest.h"
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

}  // namespace

Action declare_bench(Options& options) {
  struct Asked {
    std::string what;
    std::vector<std::string> rows;
    std::optional<double> seconds;
    std::vector<std::string> programs;
    std::optional<std::string> text;
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
  options.texts(
      "--program", "NAME=PATH", asked->programs,
      "peers: a built program: microgpt.py, microgpt-c, microgpt-c-64, microgpt.cpp, microgpt.cpp-64, "
      "llm.c or llama2.c (-64: built with width 64)");
  options.text("--data", "FILE", asked->text, "peers: text of the tokenizer rows (default: 3,000 tales)");
  options.remark(
      "The peers run in the environment that tril setup peers makes, or by TRIL_PYTHON. Let nothing else "
      "run.");
  return [asked](const Common& common) {
    if (asked->what != "peers" && asked->what != "kernels")
      refuse("there is no benchmark {}; there are: kernels, peers", in_quotes(asked->what));
    if (asked->what == "kernels") {
      const nlohmann::ordered_json document = bench_kernels(asked->seconds.value_or(0.2));
      if (common.json)
        print_json(document);
      else
        print(kernels_text(document));
      return kExitDone;
    }
    PeerSettings settings;
    settings.only = asked->rows, settings.compile = !asked->no_compile;
    settings.text = asked->text.value_or("");
    for (const std::string& given : asked->programs) settings.programs.push_back(named_program(given));
    if (!settings.text.empty()) read_file(settings.text);  // refused here where it can't be read
    const nlohmann::ordered_json document = bench_peers(std::move(settings));
    if (common.json)
      print_json(document);
    else
      print(peers_text(document));
    return kExitDone;
  };
}

}  // namespace tril::cli
