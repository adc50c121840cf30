#include "tril/text/added_tokens.h"

#include <utf8proc.h>

#include <algorithm>

#include "tril/text/loose_utf8.h"
#include "tril/text/unicode.h"

namespace tril {
namespace {

/// \w: letters, marks, decimal numbers, letter numbers and connectors, as regular expressions have it.
bool is_word(uint32_t c) {
  const int category = utf8proc_category(static_cast<utf8proc_int32_t>(c));
  return (category >= UTF8PROC_CATEGORY_LU && category <= UTF8PROC_CATEGORY_NL) ||
         category == UTF8PROC_CATEGORY_PC || c == 0x200C || c == 0x200D;
}

bool is_blank(uint32_t c) {
  return is_white_space(static_cast<char32_t>(c));
}

/// Start of the code point that ends at `end` > 0.
size_t before(std::string_view text, size_t end) {
  size_t at = end - 1;
  while (at > 0 && end - at < 4 && (text[at] & 0xC0) == 0x80) --at;
  return at + loose_char_at(text, at).bytes == end ? at : end - 1;
}

}  // namespace

AddedTokenMatcher::AddedTokenMatcher(std::span<const AddedToken> tokens, bool normalized) {
  for (const AddedToken& token : tokens) {
    if (token.normalized != normalized || token.content.empty()) continue;
    order_.push_back(&token);
    longest_ = std::max(longest_, token.content.size());
    lstrip_ |= token.lstrip;
  }
  std::stable_sort(order_.begin(), order_.end(), [](const AddedToken* a, const AddedToken* b) {
    const auto first = [](const AddedToken* t) { return static_cast<uint8_t>(t->content[0]); };
    return first(a) != first(b) ? first(a) < first(b) : a->content.size() > b->content.size();
  });
  for (const AddedToken* token : order_) ++start_[static_cast<uint8_t>(token->content[0]) + 1];
  for (size_t i = 1; i < start_.size(); ++i) start_[i] += start_[i - 1];
}

const AddedToken* AddedTokenMatcher::longest_at(std::string_view text, size_t at) const {
  const auto first = static_cast<uint8_t>(text[at]);
  for (uint32_t i = start_[first]; i < start_[first + 1]; ++i) {
    if (text.substr(at).starts_with(order_[i]->content)) return order_[i];
  }
  return nullptr;
}

bool AddedTokenMatcher::accepted(std::string_view text, size_t at, const AddedToken& token,
                                 Specials specials) const {
  if (token.special && specials == Specials::kAsText) return false;
  if (!token.single_word) return true;
  const size_t end = at + token.content.size();
  const bool left = at > 0 && is_word(loose_char_at(text, before(text, at)).value);
  const bool right = end < text.size() && is_word(loose_char_at(text, end).value);
  return !left && !right;
}

AddedTokenMatcher::Match AddedTokenMatcher::find(std::string_view text, size_t from, bool final,
                                                 Specials specials) const {
  const auto nothing = [&](size_t safe) {
    // Blanks before the place may belong to a token that strips to the left.
    while (lstrip_ && safe > from && is_blank(loose_char_at(text, before(text, safe)).value)) {
      safe = before(text, safe);
    }
    return Match{std::string_view::npos, std::string_view::npos, nullptr, safe};
  };
  for (size_t at = from; at < text.size() && !empty(); ++at) {
    const auto first = static_cast<uint8_t>(text[at]);
    if (start_[first] == start_[first + 1]) continue;
    // A longer token, or the letter behind it, may still come: 4 bytes more than the longest settle both.
    if (!final && at + longest_ + 4 > text.size()) return nothing(at);
    const AddedToken* token = longest_at(text, at);
    if (!token) continue;
    size_t begin = at, end = at + token->content.size();
    if (!accepted(text, at, *token, specials)) {
      at = end - 1;  // a refused match still covers its text
      continue;
    }
    while (token->lstrip && begin > from && is_blank(loose_char_at(text, before(text, begin)).value)) {
      begin = before(text, begin);
    }
    while (token->rstrip && end < text.size() && is_blank(loose_char_at(text, end).value)) {
      end += loose_char_at(text, end).bytes;
    }
    if (!final && token->rstrip && end + 4 > text.size()) return nothing(at);
    return {begin, end, token, text.size()};
  }
  return nothing(text.size());
}

}  // namespace tril
