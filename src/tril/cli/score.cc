// tril score: how well a run's model foresees a text.
#include "tril/generate/score.h"

#include <fmt/format.h>

#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>

#include "tril/base/error.h"
#include "tril/base/interrupt.h"
#include "tril/base/table.h"
#include "tril/cli/commands.h"
#include "tril/cli/output.h"
#include "tril/cli/run_options.h"

namespace tril::cli {
namespace {

using Json = nlohmann::ordered_json;

struct Asked {
  std::string run;
  std::optional<std::string> text, file;
  std::optional<int64_t> step;
  bool specials = false;
  UnknownCharacters unknown;
};

Json to_json(const Score& score) {
  Json tokens = Json::array();
  for (const ScoredToken& token : score.tokens) {
    interrupt::check();
    tokens.push_back({{"id", token.id}, {"text", token.text}, {"logprob", token.logprob}});
  }
  return {{"loss", score.loss()},
          {"perplexity", std::exp(score.loss())},
          {"bits_per_byte", score.bits_per_byte()},
          {"targets", score.tokens.size()},
          {"bytes", score.bytes},
          {"lossy", score.lossy},
          {"context", score.context},
          {"unknown", score.unknown},
          {"tokens", std::move(tokens)}};
}

std::string to_text(const Score& score) {
  Table table({"token", "probability", "log-probability"});
  for (const ScoredToken& token : score.tokens) {
    interrupt::check();
    table.row(
        {token.text, fmt::format("{:.4f}", std::exp(token.logprob)), fmt::format("{:.4f}", token.logprob)});
  }
  return table.text() +
         fmt::format("\nloss {:.4f}, perplexity {:.2f}, {:.4f} bits per byte{}, over {} with {} of context\n",
                     score.loss(), std::exp(score.loss()), score.bits_per_byte(),
                     score.lossy ? " (of the normalized text)" : "",
                     counted(static_cast<long long>(score.tokens.size()), "target"),
                     counted(score.context, "token"));
}

}  // namespace

Action declare_score(Options& options) {
  auto asked = std::make_shared<Asked>();
  options.word("RUN", asked->run, "the run's folder");
  options.text("--text", "TEXT", asked->text, "the text; - reads standard input");
  options.text("--file", "PATH", asked->file, "a file that holds it; - reads standard input");
  at_option(options, asked->step);
  specials_option(options, asked->specials);
  unknown_options(options, asked->unknown);
  return [asked](const Common& common) {
    if (asked->text.has_value() == asked->file.has_value()) refuse("give either --text or --file");
    LoadedRun run = load_run(asked->run, asked->step, overrides(common), Use::kInference);
    use_specials(run, asked->specials);
    const bool from_file = asked->file || *asked->text == "-";
    std::vector<std::string> lacking;
    const std::string text =
        known_text(run, from_file ? text_of_file(run, asked->file.value_or("-")) : *asked->text,
                   asked->unknown, lacking);
    Score scored;
    run.checkpoint->use([&] {
      scored = score(run, text);
      if (!scored.tokens.empty() && !std::isfinite(scored.loss()))
        refuse("{}: the loss is {}: the model's weights are not all finite numbers (tril show {})", run.path,
               scored.loss(), run.path);
    });
    scored.unknown.insert(scored.unknown.begin(), lacking.begin(), lacking.end());
    if (common.json)
      print_json(to_json(scored));
    else
      print(to_text(scored));
    return kExitDone;
  };
}

}  // namespace tril::cli
