// The work of the demo.
#include "tril/cli/demo_work.h"

#include <fmt/core.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "tril/base/interrupt.h"
#include "tril/base/progress.h"
#include "tril/base/typed.h"
#include "tril/cli/request.h"
#include "tril/generate/generate.h"
#include "tril/train/trainer.h"

namespace tril::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr double kGradientSeconds = 2;
constexpr int64_t kLooks = 12;  // points of the validation curve

}  // namespace

Config demo_config(const std::string& preset, int64_t steps, const Common& common) {
  ConfigBuilder builder;
  builder.add_preset(preset);
  use_data(builder, "tales");
  builder.set("train.steps=" + std::to_string(steps));
  builder.set("train.eval_every=" + std::to_string(std::max<int64_t>(1, steps / kLooks)));
  use_common(builder, common);
  return builder.finish();
}

std::vector<CheckRow> demo_checks(Config config, const Corpus& corpus) {
  config.model.vocab_size = corpus.tokenizer->vocab_size();
  const std::unique_ptr<Model> model = fresh_model(config);
  const CheckSubject subject = {
      config, &corpus, model.get(),
      fmt::format("one-head-smoke on tales, fresh weights of seed {}", config.train.seed)};
  std::vector<CheckRow> rows;
  Progress progress("check", 4);
  const auto group = [&](int64_t done, const char* name, const auto& work) {
    if (interrupt::requested()) return;
    progress.update(done, name);
    work();
  };
  group(0, "attention", [&] { check_attention(subject, rows); });
  group(1, "numbers", [&] { check_numbers(subject, rows); });
  group(2, "gradients", [&] { check_gradients(subject, rows, kGradientSeconds); });
  group(3, "overfit", [&] { check_overfit(subject, rows); });
  progress.finish();
  for (CheckRow& row : rows) row.subject = subject.of;
  return rows;
}

std::vector<DemoSample> demo_samples(const std::string& run, const std::string& prompt, int64_t seed) {
  const LoadedRun loaded = load_run(run);
  std::vector<DemoSample> samples;
  for (const double temperature : {0.5, 1.0}) {
    GenerateOptions options;
    options.rules.temperature = temperature;
    options.max_new_tokens = 45;
    options.seed = seed;
    samples.push_back({temperature, generate(loaded, prompt, options).text});
  }
  return samples;
}

std::vector<DemoCommand> demo_commands(const std::string& run, const std::string& prompt, int64_t steps) {
  return {
      {{"generate", run, "--prompt", prompt, "--temperature", "0.8", "--seed", "8"}, "another tale"},
      {{"generate", run, "--prompt", prompt, "--max-new-tokens", "5", "--top", "4"},
       "what else it thought of"},
      {{"trace", run, "--text", prompt}, "every number of one prediction"},
      {{"score", run, "--text", "Once there was a kind boy."}, "how well it foresees a text of yours"},
      {{"check", run}, "the checks, on what was trained"},
      {{"resume", run, "--steps", std::to_string(2 * steps)}, "train it twice as long"},
      {{"train", "one-head-classroom"}, "a larger head"},
      {{"presets"}, "all models that are ready to train"},
  };
}

Json demo_json(const BaselineLosses& losses) {
  return {{"uniform", losses.uniform},
          {"unigram", losses.unigram},
          {"bigram", losses.bigram},
          {"targets", losses.targets}};
}

Json demo_json(const std::vector<DemoSample>& samples, const std::string& prompt) {
  Json all = Json::array();
  for (const DemoSample& sample : samples)
    all.push_back({{"temperature", sample.temperature}, {"prompt", prompt}, {"text", sample.text}});
  return all;
}

Json demo_json(const std::vector<DemoCommand>& commands) {
  Json all = Json::array();
  for (const DemoCommand& command : commands)
    all.push_back({{"command", typed(command.words)}, {"words", command.words}, {"about", command.about}});
  return all;
}

}  // namespace tril::cli
