// Added tokens: strings that are matched in the text before it is cut into pieces, each with an id of its
// own. The rules are those of Hugging Face's AddedVocabulary. What it leaves out: how added tokens are
// written in files.
#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tril {

struct AddedToken {
  int32_t id = 0;
  std::string content;
  bool special = true;       // control token: matched only where the caller asks for it
  bool single_word = false;  // only where no letter, mark, number or _ touches it
  bool lstrip = false;       // takes the blanks before it
  bool rstrip = false;       // takes the blanks behind it
  bool normalized = false;   // matched in a second pass, between the others
};

/// Whether special tokens that are written out in a text become their ids.
enum class Specials { kAsText, kAsTokens };

/// One pass over a text: the tokens that are all normalized, or all not.
class AddedTokenMatcher {
 public:
  AddedTokenMatcher() = default;
  /// `tokens` must outlive the matcher; those with the given `normalized` are taken.
  AddedTokenMatcher(std::span<const AddedToken> tokens, bool normalized);

  bool empty() const { return order_.empty(); }

  struct Match {
    size_t begin, end;        // with the blanks it takes; begin = npos where there is none
    const AddedToken* token;  // null where there is none
    size_t safe;              // without a match: text before it can't be part of one, whatever follows
  };
  /// The first match at or after `from`: the leftmost, of those the longest. Blanks before `from` are not
  /// taken. Without `final`, a match that more text could change is not given.
  Match find(std::string_view text, size_t from, bool final, Specials specials) const;

 private:
  const AddedToken* longest_at(std::string_view text, size_t at) const;
  bool accepted(std::string_view text, size_t at, const AddedToken& token, Specials specials) const;

  std::vector<const AddedToken*> order_;  // by first byte, then longest first
  std::array<uint32_t, 257> start_{};     // where each first byte's tokens start in order_
  size_t longest_ = 0;
  bool lstrip_ = false;
};

}  // namespace tril
