// tril generate: text from a run's model, token by token.
#include "tril/generate/generate.h"

#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "tril/base/error.h"
#include "tril/base/table.h"
#include "tril/cli/commands.h"
#include "tril/cli/output.h"
#include "tril/cli/run_options.h"

namespace tril::cli {
namespace {

using Json = nlohmann::ordered_json;

struct Asked {
  std::string run;
  std::optional<std::string> prompt, on_full;
  std::optional<int64_t> length, top_k, samples, top, step;
  std::optional<double> temperature, top_p, min_p, penalty;
  std::vector<std::string> stops;
  bool greedy = false, no_cache = false;
  bool specials = false;
  UnknownCharacters unknown;
};

GenerateOptions options_of(const Asked& asked, const Common& common) {
  if (asked.greedy && asked.temperature.value_or(0) != 0)
    refuse("--greedy and --temperature {} exclude each other", *asked.temperature);
  GenerateOptions options;
  options.rules.temperature = asked.greedy ? 0 : asked.temperature.value_or(1);
  options.rules.top_k = asked.top_k.value_or(0);
  options.rules.top_p = asked.top_p.value_or(1);
  options.rules.min_p = asked.min_p.value_or(0);
  options.rules.repetition_penalty = asked.penalty.value_or(1);
  options.max_new_tokens = asked.length.value_or(options.max_new_tokens);
  options.seed = common.seed.value_or(0);
  options.stops = asked.stops;
  options.top = asked.top.value_or(0);
  options.cache = !asked.no_cache;
  options.slide_on_full = asked.on_full.value_or("slide") == "slide";
  return options;
}

Json to_json(const Generated& made, bool with_alternatives) {
  Json tokens = Json::array();
  for (const GeneratedToken& token : made.tokens) {
    Json entry = {{"id", token.id}, {"text", token.text}, {"probability", token.probability}};
    if (with_alternatives) {
      entry["alternatives"] = Json::array();
      for (const Alternative& other : token.alternatives)
        entry["alternatives"].push_back(
            {{"id", other.id}, {"text", other.text}, {"probability", other.probability}});
    }
    tokens.push_back(std::move(entry));
  }
  return {{"text", made.text},
          {"continuation", made.continuation},
          {"prompt_tokens", made.prompt_tokens},
          {"prompt_ids", made.prompt_ids},
          {"unknown", made.unknown},
          {"tokens", std::move(tokens)},
          {"stopped", made.stopped}};
}

std::string alternatives_text(const Generated& made) {
  Table table({"token", "probability", "most likely"});
  for (const GeneratedToken& token : made.tokens) {
    std::string others;
    for (const Alternative& other : token.alternatives)
      others += fmt::format("{}{} {:.3f}", others.empty() ? "" : ", ", other.text, other.probability);
    table.row({token.text, fmt::format("{:.3f}", token.probability), others});
  }
  return "\n" + table.text();
}

// The first sample as it grows: the prompt at once, then each piece as soon as it is sure. The others, which
// are computed beside it, follow whole.
void print_samples(const LoadedRun& run, const std::string& prompt, GenerateOptions options,
                   int64_t samples) {
  options.on_prompt = [](std::string_view shown) { print(shown); };
  options.on_text = [](std::string_view piece) {
    print(piece);
    flush();
  };
  bool first = true;
  generate_samples(run, prompt, options, 0, samples, [&](const Generated& made) {
    print(first ? "\n" : "\n" + made.text + "\n");
    if (options.top > 0) print(alternatives_text(made));
    first = false;
  });
}

int run_generation(const Asked& asked, const Common& common) {
  const GenerateOptions options = options_of(asked, common);
  require_rules(options.rules);
  LoadedRun run = load_run(asked.run, asked.step, overrides(common), Use::kInference);
  use_specials(run, asked.specials);
  std::vector<std::string> lacking;
  const std::string prompt = known_text(run, text_or_input(run, *asked.prompt), asked.unknown, lacking);
  const int64_t samples = asked.samples.value_or(1);
  if (!common.json) {
    run.checkpoint->use([&] { print_samples(run, prompt, options, samples); });
    return kExitDone;
  }
  Json all = Json::array();
  run.checkpoint->use([&] {
    generate_samples(run, prompt, options, 0, samples, [&](Generated made) {
      made.unknown.insert(made.unknown.begin(), lacking.begin(), lacking.end());
      all.push_back(to_json(made, options.top > 0));
    });
  });
  print_json(samples == 1 ? all.front() : Json{{"samples", all}});
  return kExitDone;
}

}  // namespace

Action declare_generate(Options& options) {
  auto asked = std::make_shared<Asked>();
  options.word("RUN", asked->run, "the run's folder");
  options.text("--prompt", "TEXT", asked->prompt, "what the text begins with; - reads standard input");
  options.required();
  options.integer("--max-new-tokens", asked->length, 0, 1000000000,
                  "the longest continuation (default: 100)");
  options.real("--temperature", asked->temperature, 0, 1000,
               "below 1 bolder choices become rarer; 0 is greedy (default: 1)");
  options.integer("--top-k", asked->top_k, 0, 1000000000, "only the K most likely tokens; 0 = all");
  options.real("--top-p", asked->top_p, 0, 1, "only the most likely tokens that hold this much probability",
               Options::Ends::above_low);
  options.real("--min-p", asked->min_p, 0, 1,
               "only tokens with this share of the likeliest one's probability or more",
               Options::Ends::below_high);
  options.real("--repetition-penalty", asked->penalty, 0, 1000,
               "above 1, tokens that were there become rarer", Options::Ends::above_low);
  options.flag("--greedy", asked->greedy, "always the most likely token");
  options.texts("--stop", "TEXT", asked->stops, "end before this text");
  options.integer("--samples", asked->samples, 1, 100000, "how many continuations (default: 1)");
  options.integer("--top", asked->top, 0, 1000, "show the N most likely tokens at each place");
  options.flag("--no-cache", asked->no_cache, "compute keys and values of all tokens again each time");
  options.choice("--on-full", {"slide", "stop"}, asked->on_full,
                 "when the context is full: keep its last tokens, or end");
  at_option(options, asked->step);
  specials_option(options, asked->specials);
  unknown_options(options, asked->unknown);
  options.remark("The same --seed gives the same text (default: 0).");
  return [asked](const Common& common) { return run_generation(*asked, common); };
}

}  // namespace tril::cli
