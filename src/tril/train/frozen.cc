#include "tril/train/frozen.h"

#include <fmt/format.h>

#include <optional>
#include <vector>

#include "tril/base/comma_list.h"
#include "tril/base/error.h"
#include "tril/base/quote.h"
#include "tril/base/suggest.h"
#include "tril/base/table.h"
#include "tril/base/typed.h"
#include "tril/model/lora.h"

namespace tril {
namespace {

bool digit(char c) {
  return c >= '0' && c <= '9';
}

// "; …" for a pattern that names nothing.
std::string hint_of(const std::string& pattern, const Parameters& parameters, const ModelConfig& config) {
  std::vector<std::string> names;
  for (const ParameterInfo& info : parameters.infos()) names.push_back(info.name);
  std::string hint = nearest_hint(pattern, names);
  if (hint.empty() && pattern.find("head") != std::string::npos)
    hint = config.tied ? "; its head is the token embedding (model.tied): 'token_embedding'"
                       : nearest_hint("head", names);
  return hint;
}

}  // namespace

// What fails goes back to the last * alone, which is enough: none crosses a dot, so what an earlier one could
// take more of, the last can take too.
bool freezes(std::string_view pattern, std::string_view name) {
  const bool ends_a_number = !pattern.empty() && digit(pattern.back());
  size_t p = 0, n = 0, taken = 0;  // taken: where the last * ends
  std::optional<size_t> after_star;
  for (;;) {
    if (p == pattern.size() && (!ends_a_number || n == name.size() || !digit(name[n]))) return true;
    if (p < pattern.size() && pattern[p] == '*') {
      after_star = ++p;
      taken = n;
    } else if (p < pattern.size() && n < name.size() && pattern[p] == name[n]) {
      ++p, ++n;
    } else if (after_star && taken < name.size() && name[taken] != '.') {
      p = *after_star;
      n = ++taken;
    } else {
      return false;
    }
  }
}

void freeze(Parameters& parameters, const Config& config) {
  const bool adapted = config.model.lora.rank > 0;
  for (int i = 0; i < parameters.size(); ++i)
    parameters.set_frozen(i, adapted && !is_lora(parameters.info(i)));
  const std::string& patterns = config.train.freeze;
  for (const std::string& pattern : comma_list(patterns)) {
    bool found = false;
    for (int i = 0; i < parameters.size(); ++i) {
      if (!freezes(pattern, parameters.info(i).name)) continue;
      parameters.set_frozen(i, true);
      found = true;
    }
    if (!found)
      refuse("train.freeze: no parameter's name begins with {}{}; {} lists a run's names", in_quotes(pattern),
             hint_of(pattern, parameters, config.model), typed({"show", "RUN"}));
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
