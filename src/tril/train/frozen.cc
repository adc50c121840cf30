#include "tril/train/frozen.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <vector>

#include "tril/base/error.h"
#include "tril/base/quote.h"
#include "tril/base/suggest.h"
#include "tril/base/table.h"
#include "tril/model/lora.h"

namespace tril {
namespace {

bool digit(char c) {
  return c >= '0' && c <= '9';
}

bool begins(std::string_view pattern, std::string_view name, bool ends_in_digit) {
  if (pattern.empty()) return !ends_in_digit || name.empty() || !digit(name.front());
  if (pattern.front() == '*') {
    for (size_t taken = 0;; ++taken) {
      if (begins(pattern.substr(1), name.substr(taken), ends_in_digit)) return true;
      if (taken == name.size() || name[taken] == '.') return false;
    }
  }
  return !name.empty() && pattern.front() == name.front() &&
         begins(pattern.substr(1), name.substr(1), ends_in_digit);
}

std::vector<std::string> names_of(const Parameters& parameters) {
  std::vector<std::string> names;
  for (const ParameterInfo& info : parameters.infos()) names.push_back(info.name);
  return names;
}

}  // namespace

bool freezes(std::string_view pattern, std::string_view name) {
  return begins(pattern, name, !pattern.empty() && digit(pattern.back()));
}

void freeze(Parameters& parameters, const Config& config) {
  const bool adapted = config.model.lora.rank > 0;
  for (int i = 0; i < parameters.size(); ++i)
    parameters.set_frozen(i, adapted && !is_lora(parameters.info(i)));
  const std::string& patterns = config.train.freeze;
  for (size_t start = 0; start < patterns.size();) {
    const size_t end = std::min(patterns.find(',', start), patterns.size());
    const std::string pattern = patterns.substr(start, end - start);
    start = end + 1;
    bool found = false;
    for (int i = 0; i < parameters.size(); ++i) {
      if (!freezes(pattern, parameters.info(i).name)) continue;
      parameters.set_frozen(i, true);
      found = true;
    }
    if (!found)
      refuse("train.freeze: no parameter's name begins with {}{}; tril show lists a run's names",
             in_quotes(pattern), nearest_hint(pattern, names_of(parameters)));
  }
  if (trained_count(parameters) == 0)
    refuse("train.freeze {}: freezes every parameter, so there is nothing to train", in_quotes(patterns));
}

int64_t trained_count(const Parameters& parameters) {
  int64_t count = 0;
  for (const ParameterInfo& info : parameters.infos()) count += info.frozen ? 0 : info.shape.count();
  return count;
}

std::string trained_share(int64_t parameters, int64_t trained) {
  std::string text = counted(parameters, "parameter");
  if (trained == parameters) return text;
  return text + fmt::format(", {} of them trained ({:.2f}%)", with_commas(trained),
                            100.0 * static_cast<double>(trained) / static_cast<double>(parameters));
}

}  // namespace tril
