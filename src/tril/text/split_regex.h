// A split by an arbitrary regular expression, as tokenizer.json files carry them, run by PCRE2 under a budget
// of work, so that a hostile expression ends in a refusal and never in a hang. What it leaves out: the usual
// patterns, which are written by hand (split_pattern).
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "tril/text/split_pattern.h"

namespace tril {

/// What becomes of a match and of the text between matches (Hugging Face's names).
enum class SplitBehavior { kIsolated, kRemoved, kMergedWithPrevious, kMergedWithNext, kContiguous };

/// The work that regular expressions may still do on one text: backtracking steps and bytes looked ahead,
/// beyond a small free amount for each place.
struct RegexBudget {
  explicit RegexBudget(size_t text_bytes) : left(20'000'000 + 64 * static_cast<int64_t>(text_bytes)) {}
  int64_t left;
};

/// Thread safety: next may run in any number of threads.
class SplitRegex {
 public:
  /// Throws Refusal with PCRE2's reason and the offset where the expression does not compile or is too large.
  /// Anchors ^ and $ are those of lines, as in Oniguruma, which Hugging Face uses; an empty match is no
  /// match.
  SplitRegex(std::string source, SplitBehavior behavior, bool invert);

  /// As next_piece(SplitPattern, …), for valid UTF-8 only. With `final` the end of `text` is the end of all
  /// text; without, a piece that more text could change is open. Throws Refusal where the budget is spent.
  Piece next(std::string_view text, size_t begin, bool final, RegexBudget& budget) const;

  const std::string& source() const { return source_; }
  SplitBehavior behavior() const { return behavior_; }
  bool invert() const { return invert_; }
  /// How many bytes before a place the expression may look at.
  size_t lookbehind() const;

 private:
  struct Code;
  struct Segment {
    size_t end;
    bool match;
    bool open;
  };
  /// One past the match that starts at `at`; `at` where none does; npos where that needs more text.
  size_t match_at(std::string_view text, size_t at, bool final, RegexBudget& budget) const;
  /// The match at `begin`, or the text up to the next match.
  Segment segment(std::string_view text, size_t begin, bool final, RegexBudget& budget) const;

  std::string source_;
  SplitBehavior behavior_;
  bool invert_;
  std::shared_ptr<const Code> code_;
};

/// The expression that matches exactly this text.
std::string quote_regex(std::string_view literal);

}  // namespace tril
