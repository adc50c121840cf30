// The profile of one step, its trace and its table.
#include "tril/base/profile.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <chrono>
#include <map>
#include <nlohmann/json.hpp>

#include "tril/base/table.h"

namespace tril {
namespace {

int64_t clock_now() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

const char* name_of(Profile::Kind kind) {
  return kind == Profile::Kind::phase ? "phase" : kind == Profile::Kind::forward ? "forward" : "backward";
}

double microseconds(int64_t nanoseconds) {
  return static_cast<double>(nanoseconds) / 1000;
}

}  // namespace

std::atomic<Profile*> Profile::active_{nullptr};

Profile::Profile(int threads) : help_(static_cast<size_t>(std::max(threads, 1))) {}

Profile::~Profile() {
  if (active() == this) stop();
}

void Profile::start() {
  assert(active() == nullptr);
  origin_ = clock_now();
  active_ = this;
}

void Profile::stop() {
  active_ = nullptr;
  duration_ = now();
}

int64_t Profile::now() const {
  return clock_now() - origin_;
}

int Profile::label(std::string_view name, std::string shapes) {
  labels_.push_back({std::string(name), std::move(shapes)});
  return static_cast<int>(labels_.size()) - 1;
}

void Profile::begin(int label, Kind kind) {
  open_.push_back({label, kind, now(), 0});
}

void Profile::end(int64_t bytes) {
  const Open open = open_.back();
  open_.pop_back();
  const int64_t took = now() - open.start;
  if (!open_.empty()) open_.back().inside += took;
  spans_.push_back(
      {open.label, open.kind, static_cast<int>(open_.size()), open.start, took, took - open.inside, bytes});
}

void Profile::helped(int thread, int64_t since, int64_t pieces) {
  if (pieces > 0 && thread < static_cast<int>(help_.size()))
    help_[static_cast<size_t>(thread)].push_back({since, now() - since, pieces});
}

std::string profile_json(const Profile& profile, std::string_view title) {
  using Json = nlohmann::ordered_json;
  Json events = Json::array();
  const auto name = [&](const char* what, int thread, const std::string& text) {
    events.push_back({{"ph", "M"}, {"pid", 1}, {"tid", thread}, {"name", what}, {"args", {{"name", text}}}});
  };
  name("process_name", 0, std::string(title));
  name("thread_name", 0, "the training thread");
  for (const Profile::Span& span : profile.spans()) {
    const Profile::Label& label = profile.labels()[static_cast<size_t>(span.label)];
    Json event = {{"ph", "X"},
                  {"pid", 1},
                  {"tid", 0},
                  {"name", label.name},
                  {"cat", name_of(span.kind)},
                  {"ts", microseconds(span.start)},
                  {"dur", microseconds(span.duration)}};
    if (span.kind != Profile::Kind::phase)
      event["args"] = {
          {"direction", name_of(span.kind)}, {"shapes", label.shapes}, {"bytes_taken", span.bytes}};
    events.push_back(std::move(event));
  }
  for (size_t thread = 0; thread < profile.help().size(); ++thread) {
    if (profile.help()[thread].empty()) continue;
    const int id = static_cast<int>(thread) + 1;
    name("thread_name", id,
         thread == 0 ? "pieces of loops, the training thread"
                     : fmt::format("pieces of loops, worker {}", thread));
    for (const Profile::Help& help : profile.help()[thread])
      events.push_back({{"ph", "X"},
                        {"pid", 1},
                        {"tid", id},
                        {"name", "pieces"},
                        {"cat", "threads"},
                        {"ts", microseconds(help.start)},
                        {"dur", microseconds(help.duration)},
                        {"args", {{"pieces", help.pieces}}}});
  }
  const Json document = {{"displayTimeUnit", "ms"}, {"traceEvents", std::move(events)}};
  return document.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::vector<ProfileRow> dearest_ops(const Profile& profile, size_t count) {
  std::map<std::pair<std::string, Profile::Kind>, ProfileRow> sums;
  for (const Profile::Span& span : profile.spans()) {
    if (span.kind == Profile::Kind::phase) continue;
    const std::string& name = profile.labels()[static_cast<size_t>(span.label)].name;
    ProfileRow& row = sums.try_emplace({name, span.kind}, ProfileRow{name, span.kind, 0, 0, 0}).first->second;
    ++row.calls;
    row.own += span.own;
    row.bytes += span.bytes;
  }
  std::vector<ProfileRow> rows;
  rows.reserve(sums.size());
  for (auto& [key, row] : sums) rows.push_back(std::move(row));
  std::stable_sort(rows.begin(), rows.end(),
                   [](const ProfileRow& a, const ProfileRow& b) { return a.own > b.own; });
  rows.resize(std::min(rows.size(), count));
  return rows;
}

std::string dearest_ops_text(const Profile& profile, size_t count) {
  Table table({"op", "direction", "calls", "ms", "of the step", "bytes taken"});
  for (const ProfileRow& row : dearest_ops(profile, count))
    table.row({row.name, name_of(row.kind), with_commas(row.calls),
               fmt::format("{:.3f}", static_cast<double>(row.own) / 1e6),
               fmt::format("{:.1f}%", 100.0 * static_cast<double>(row.own) /
                                          static_cast<double>(std::max<int64_t>(1, profile.duration()))),
               with_commas(row.bytes)});
  return table.text();
}

}  // namespace tril
