#include "tril/base/fault.h"

#include <array>
#include <charconv>
#include <cstdlib>
#include <mutex>
#include <optional>
#include <string>

#include "tril/base/error.h"

namespace tril::fault {
namespace {
constexpr std::array<std::string_view, 6> kOperations = {"write",  "flush",  "rename",
                                                         "remove", "create", "cut"};
constexpr std::array<std::string_view, 5> kEffects = {"none", "error", "full", "short", "kill"};

struct Plan {
  std::optional<Operation> operation;  // none: any operation
  int64_t n = 0;                       // 0: no fault
  Effect effect = Effect::kNone;
};

struct State {
  std::mutex mutex;
  Plan plan;
  std::array<int64_t, 6> counts{};
  bool full = false;  // the planned kFull has come: the disk stays full

  int64_t total() const {
    int64_t sum = 0;
    for (const int64_t count : counts) sum += count;
    return sum;
  }
};

template <size_t N>
int index_of(const std::array<std::string_view, N>& names, std::string_view name) {
  for (size_t i = 0; i < N; ++i) {
    if (names[i] == name) return static_cast<int>(i);
  }
  return -1;
}

Plan parse(std::string_view text) {
  Plan plan;
  if (text.empty()) return plan;
  const size_t first = text.find(':');
  const size_t second = first == text.npos ? text.npos : text.find(':', first + 1);
  if (second == text.npos) refuse("fault '{}': is not OPERATION:N:EFFECT", text);
  const std::string_view operation = text.substr(0, first);
  const std::string_view number = text.substr(first + 1, second - first - 1);
  const int operation_index = index_of(kOperations, operation);
  const int effect_index = index_of(kEffects, text.substr(second + 1));
  const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), plan.n);
  if ((operation_index < 0 && operation != "any") || effect_index < 1 || error != std::errc() ||
      end != number.data() + number.size() || plan.n < 1) {
    refuse("fault '{}': is not OPERATION:N:EFFECT with a known operation, N from 1 and a known effect", text);
  }
  if (operation_index >= 0) plan.operation = static_cast<Operation>(operation_index);
  plan.effect = static_cast<Effect>(effect_index);
  return plan;
}

State& state() {
  static State* const the_state = [] {
    auto* fresh = new State;  // lives as long as the process: files may be closed by destructors of statics
    if (const char* text = std::getenv("TRIL_FAULT")) fresh->plan = parse(text);
    return fresh;
  }();
  return *the_state;
}
}  // namespace

void plan(std::string_view text) {
  const Plan parsed = parse(text);
  State& s = state();
  const std::lock_guard hold(s.mutex);
  s.plan = parsed;
  s.counts.fill(0);
  s.full = false;
}

int64_t count() {
  State& s = state();
  const std::lock_guard hold(s.mutex);
  return s.total();
}

int64_t count(Operation operation) {
  State& s = state();
  const std::lock_guard hold(s.mutex);
  return s.counts[static_cast<size_t>(operation)];
}

Effect next(Operation operation) {
  State& s = state();
  const std::lock_guard hold(s.mutex);
  const int64_t seen = ++s.counts[static_cast<size_t>(operation)];
  const bool takes_room = operation == Operation::kWrite || operation == Operation::kCreate;
  if (s.full && takes_room) return Effect::kFull;
  if (s.plan.n == 0 || (s.plan.operation && *s.plan.operation != operation)) return Effect::kNone;
  if ((s.plan.operation ? seen : s.total()) != s.plan.n) return Effect::kNone;
  if (s.plan.effect == Effect::kFull) s.full = true;
  return s.plan.effect;
}

}  // namespace tril::fault
