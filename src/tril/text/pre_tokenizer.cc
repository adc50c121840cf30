#include "tril/text/pre_tokenizer.h"

#include <algorithm>
#include <utility>

#include "tril/text/loose_utf8.h"
#include "tril/text/utf8.h"

namespace tril {

PreTokenizer::PreTokenizer(std::vector<Stage> stages) : stages_(std::move(stages)) {
  for (const Stage& stage : stages_) has_regex_ |= std::holds_alternative<SplitRegex>(stage);
}

bool PreTokenizer::drops() const {
  return std::any_of(stages_.begin(), stages_.end(), [](const Stage& stage) {
    const auto* regex = std::get_if<SplitRegex>(&stage);
    return regex && regex->behavior() == SplitBehavior::kRemoved;
  });
}

size_t PreTokenizer::lookbehind() const {
  size_t most = 0;
  for (const Stage& stage : stages_) {
    if (const auto* regex = std::get_if<SplitRegex>(&stage)) most = std::max(most, regex->lookbehind());
  }
  return most;
}

size_t PreTokenizer::complete_end(std::string_view text) {
  return complete_prefix(text);
}

bool PreTokenizer::grows_only(const Stage& stage) {
  const auto* pattern = std::get_if<SplitPattern>(&stage);
  return pattern && (*pattern == SplitPattern::kDigits || *pattern == SplitPattern::kDigitRuns);
}

Piece PreTokenizer::next(const Stage& stage, std::string_view text, size_t begin, bool final,
                         RegexBudget& budget) {
  if (const auto* pattern = std::get_if<SplitPattern>(&stage)) return next_piece(*pattern, text, begin);
  return std::get<SplitRegex>(stage).next(text, begin, final, budget);
}

PreTokenizer::Cleaned::Cleaned(std::string_view text) {
  constexpr std::string_view kVowelSeparator = "\u180E", kWordJoiner = "\u2060";
  static_assert(kVowelSeparator.size() == kWordJoiner.size());
  if (!first_invalid_utf8(text) && text.find(kVowelSeparator) == text.npos) return;
  for (size_t at = 0; at < text.size();) {
    const LooseChar c = loose_char_at(text, at);
    if (c.value == 0x180E) {
      text_ += kWordJoiner;
    } else if (c.valid) {
      text_.append(text, at, c.bytes);
    } else {
      text_ += "\uFFFD";
      cuts_.push_back({text_.size(), at + c.bytes});
    }
    at += c.bytes;
  }
}

size_t PreTokenizer::Cleaned::original(size_t at) const {
  const auto behind = std::upper_bound(cuts_.begin(), cuts_.end(), at,
                                       [](size_t value, const Cut& cut) { return value < cut.clean; });
  if (behind == cuts_.begin()) return at;
  return behind[-1].original + (at - behind[-1].clean);
}

size_t PreTokenizer::Cleaned::cleaned(size_t at) const {
  const auto behind = std::upper_bound(cuts_.begin(), cuts_.end(), at,
                                       [](size_t value, const Cut& cut) { return value < cut.original; });
  if (behind == cuts_.begin()) return at;
  return behind[-1].clean + (at - behind[-1].original);
}

}  // namespace tril
