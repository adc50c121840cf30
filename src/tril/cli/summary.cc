// The end of a training run, for a reader.
#include "tril/cli/summary.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "tril/base/chart.h"
#include "tril/base/progress.h"
#include "tril/base/table.h"
#include "tril/cli/output.h"
#include "tril/cli/run_options.h"
#include "tril/train/frozen.h"

namespace tril::cli {
namespace {

using Json = nlohmann::ordered_json;

ChartSeries series(const Json& result, const std::string& name, const char* field) {
  ChartSeries found{name, {}};
  for (const Json& point : result.at("trace"))
    if (point.at(field).is_number() && point.at("tokens_seen").is_number())
      found.points.emplace_back(point.at("tokens_seen").get<double>(), point.at(field).get<double>());
  return found;
}

std::string validation_line(const Json& result) {
  if (result.at("validation_loss").is_null()) return "none: there is no validation text";
  // e to a loss above 709 is beyond a double: the document holds null.
  const Json& perplexity = result.at("validation_perplexity");
  return fmt::format(
      "loss {:.4f}, perplexity {}, over {} (step {})", result.at("validation_loss").get<double>(),
      perplexity.is_null() ? "beyond 1e308" : fmt::format("{:.2f}", perplexity.get<double>()),
      counted(result.at("targets").at("validation"), "target"), with_commas(result.at("selected_step")));
}

std::string samples_text(const Json& result) {
  std::string text;
  if (!result.contains("samples")) return text;
  int number = 0;
  for (const Json& sample : result.at("samples"))
    text += fmt::format("sample {:>2}: {}\n", ++number, sample.get<std::string>());
  return text + "\n";
}

}  // namespace

std::string summary_text(const Json& result) {
  const std::string run = result.at("run");
  const Json& seconds = result.at("seconds");
  std::string text = fmt::format("run         {}\n", run);
  text +=
      fmt::format("model       {}, {} in the vocabulary\n",
                  trained_share(result.at("parameters"),
                                result.value("trained_parameters", result.at("parameters").get<int64_t>())),
                  counted(result.at("vocab_size"), "token"));
  text +=
      fmt::format("training    {}, {} seen of {}\n", counted(result.at("steps"), "step"),
                  counted(result.at("tokens_seen"), "target"), with_commas(result.at("targets").at("train")));
  text += "validation  " + validation_line(result) + "\n";
  text += fmt::format("time        {:.2f} s: data {:.2f}, training {:.2f}, evaluation {:.2f}",
                      seconds.at("total").get<double>(), seconds.at("data").get<double>(),
                      seconds.at("train").get<double>(), seconds.at("eval").get<double>());
  if (result.at("tokens_per_second").is_number())
    text += fmt::format("; {} targets/s", short_count(result.at("tokens_per_second")));
  text += fmt::format("\nmemory      {} at most\n", short_bytes(result.at("peak_bytes")));
  text += fmt::format("losses      {}/metrics.jsonl, a line for each logged step\n", run);
  return text;
}

std::optional<BaselineLosses> baselines_of(const Config& config, const Corpus& corpus) {
  constexpr size_t kMostTokens = 20'000'000;
  const Tokens &train = corpus.train(), &validation = corpus.validation();
  if (train.ids.size() > kMostTokens || validation.ids.size() > kMostTokens) return std::nullopt;
  const auto targets = [&](const Tokens& tokens) {
    return config.model.family == "decoder" ? stream_of(tokens) : documents_of(tokens);
  };
  const Baselines counted(targets(train), corpus.tokenizer->vocab_size());
  return counted.losses(targets(validation.ids.empty() ? train : validation));
}

std::string loss_chart(const Json& result, const std::optional<BaselineLosses>& baselines, bool unicode) {
  const ChartSeries training = series(result, "training batch", "train_batch_loss");
  const ChartSeries validation = series(result, "validation", "validation_loss");
  if (training.points.size() < 2) return "";
  std::vector<ChartSeries> all = {training};
  if (!validation.points.empty()) all.push_back(validation);
  const double even = std::log(result.at("vocab_size").get<double>());
  std::vector<ChartLevel> levels = {
      {fmt::format("uniform, ln {}", result.at("vocab_size").get<int64_t>()), even}};
  if (baselines && baselines->targets > 0) {
    levels.push_back({"unigram", baselines->unigram});
    levels.push_back({"bigram", baselines->bigram});
  }
  ChartOptions options;
  options.title = "loss";
  options.x_label = "targets seen";
  options.unicode = unicode;
  return chart(all, levels, options);
}

Ending::Ending(bool json) : json_(json), chart_(!json && isatty(STDOUT_FILENO) != 0) {}

LoopOptions Ending::options(const RunFolder& folder) {
  LoopOptions options = loop_options(folder);
  if (chart_)
    options.ended = [this](const Config& config, const Corpus& corpus) {
      baselines_ = baselines_of(config, corpus);
    };
  return options;
}

void Ending::print(const Json& result) const {
  if (json_) return print_json(result);
  cli::print(samples_text(result));
  if (chart_) cli::print(loss_chart(result, baselines_, unicode_terminal(STDOUT_FILENO)) + "\n");
  cli::print(summary_text(result));
}

}  // namespace tril::cli
