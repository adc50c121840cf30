// One run by several ranks: what they say to each other.
#include "tril/train/parallel.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

#include "tril/base/build_info.h"
#include "tril/base/error.h"
#include "tril/base/threads.h"
#include "tril/train/config.h"
#include "tril/train/run_settings.h"

namespace tril {
namespace {

using Json = nlohmann::json;

using Field = std::pair<const char*, std::string JointStart::*>;
constexpr std::array<Field, 5> kFields = {{{"program", &JointStart::program},
                                           {"asked", &JointStart::asked},
                                           {"config", &JointStart::config},
                                           {"tokenizer", &JointStart::tokenizer},
                                           {"source", &JointStart::source}}};

// The first line in which two texts differ, as "THERE on rank 0, HERE here".
std::string first_difference(std::string_view here, std::string_view there) {
  const auto next = [](std::string_view& text) {
    const size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    return line;
  };
  while (!here.empty() || !there.empty()) {
    const std::string_view a = next(here), b = next(there);
    if (a != b) return fmt::format("{} on rank 0, {} here", b, a);
  }
  return "";
}

}  // namespace

void Parallel::require_shareable(const Config& config, int ranks) {
  if (config.train.batch % ranks != 0)
    refuse("train.batch {} can't be shared out among {} ranks: take a multiple of {}", config.train.batch,
           ranks, ranks);
  if (config.data.path == "-")
    refuse("--data -: standard input reaches one rank only; give a file that all ranks can read");
}

void Parallel::lead_start(const JointStart& start) {
  Json document;
  for (const auto& [name, field] : kFields) document[name] = start.*field;
  std::string text = document.dump(-1, ' ', false, Json::error_handler_t::replace);
  started_ = true;
  ranks_->broadcast_text(text);
  const std::vector<std::string> faults = ranks_->gather_texts("");
  for (size_t rank = 1; rank < faults.size(); ++rank)
    if (!faults[rank].empty()) {
      started_ = false;
      refuse("rank {}: {}", rank, faults[rank]);
    }
}

bool Parallel::hear_start(JointStart& start) {
  std::string text;
  ranks_->broadcast_text(text);
  if (text.empty()) return false;
  const Json document = Json::parse(text);
  for (const auto& [name, field] : kFields) start.*field = document.at(name).get<std::string>();
  return true;
}

bool Parallel::answer_start(const std::string& fault) {
  for (const std::string& each : ranks_->gather_texts(fault))
    if (!each.empty()) return false;
  return true;
}

void Parallel::order(const Order& order) {
  Order told = order;
  together_ = true;
  ranks_->broadcast(&told, sizeof told);
}

Order Parallel::next_order() {
  Order heard;
  ranks_->broadcast(&heard, sizeof heard);
  return heard;
}

void Parallel::end(bool leave) {
  if (together_) return;
  if (started_) {
    order({});
  } else {
    std::string nothing;
    ranks_->broadcast_text(nothing);
  }
  if (leave) ranks_->leave();
}

std::string start_fault(const JointStart& here, const JointStart& there) {
  if (here.program != there.program)
    return fmt::format("another program: {} on rank 0, {} here", there.program, here.program);
  if (here.asked != there.asked) return "other settings: " + first_difference(here.asked, there.asked);
  if (here.source != there.source)
    return fmt::format("other data: SHA-256 {} on rank 0, {} here", there.source.substr(0, 16),
                       here.source.substr(0, 16));
  return "";
}

std::string asked_text(const Config& config) {
  constexpr std::array<std::string_view, 4> kOwn = {"data.path", "train.from", "lora.adapter", "run.threads"};
  std::string text;
  for (const auto& [name, value] : settings_text(config))
    if (std::find(kOwn.begin(), kOwn.end(), name) == kOwn.end()) text += name + " = " + value + "\n";
  return text;
}

JointStart joint_start(const std::string& asked, const Config& config, const Corpus& corpus) {
  return {fmt::format("tril {}, vectors {}, oneDNN {}", program_version(), vector_level(), onednn_version()),
          asked, config_to_toml(config), corpus.tokenizer->to_json(), corpus.source.sha256};
}

nlohmann::ordered_json ranks_json(Parallel& parallel, const SumTimes& times) {
  const double steps = static_cast<double>(std::max<int64_t>(1, times.steps));
  return {{"count", parallel.count()},
          {"on_this_machine", parallel.ranks().local_ranks()},
          {"threads", threads()},
          {"library", parallel.ranks().library()},
          {"bytes_a_step", times.bytes / steps},
          {"waited_a_step", times.waited / steps}};
}

}  // namespace tril
