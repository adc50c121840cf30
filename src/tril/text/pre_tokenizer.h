// How a tokenizer cuts text into the pieces that are merged one by one: a chain of stages, each cutting what
// the one before left. What it leaves out: merging, and tokens that are matched before any cut
// (added_tokens).
#pragma once
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "tril/text/split_pattern.h"
#include "tril/text/split_regex.h"

namespace tril {

class PreTokenizer {
 public:
  using Stage = std::variant<SplitPattern, SplitRegex>;

  PreTokenizer() = default;
  explicit PreTokenizer(std::vector<Stage> stages);

  const std::vector<Stage>& stages() const { return stages_; }
  /// True where a stage may cut text out.
  bool drops() const;

  /// Calls emit(std::string_view piece) for each piece of text[begin, …) in order. With `final`, text ends
  /// where it ends; without, only pieces that no further text could change are emitted. Returns the end of
  /// the last piece emitted (text.size() with `final`). Bytes before `begin` are seen by lookbehind alone.
  /// Throws Refusal where a regular expression takes too long.
  template <class Emit>
  size_t split(std::string_view text, size_t begin, bool final, const Emit& emit) const {
    if (!final) text = text.substr(0, complete_end(text));
    if (begin >= text.size()) return begin;
    RegexBudget budget(text.size());
    if (!has_regex_) return run(0, text, begin, final, budget, emit);
    const Cleaned clean(text);
    if (clean.same()) return run(0, text, begin, final, budget, emit);
    const auto mapped = [&](std::string_view piece) {
      const size_t from = piece.data() - clean.text().data();
      const size_t low = clean.original(from), high = clean.original(from + piece.size());
      emit(text.substr(low, high - low));
    };
    return clean.original(run(0, clean.text(), clean.cleaned(begin), final, budget, mapped));
  }

  /// How many bytes before a place its pieces may depend on.
  size_t lookbehind() const;

 private:
  /// A text as the regular expressions should see it: broken bytes are replaced by U+FFFD, and U+180E, which
  /// PCRE2 alone takes for a blank, by another format character. And the way back.
  class Cleaned {
   public:
    explicit Cleaned(std::string_view text);
    bool same() const { return text_.empty(); }
    std::string_view text() const { return text_; }
    size_t original(size_t at) const;
    size_t cleaned(size_t at) const;

   private:
    struct Cut {
      size_t clean, original;  // ends of a replaced sequence
    };
    std::string text_;
    std::vector<Cut> cuts_;
  };

  static size_t complete_end(std::string_view text);
  static bool grows_only(const Stage& stage);
  static Piece next(const Stage& stage, std::string_view text, size_t begin, bool final, RegexBudget& budget);

  template <class Emit>
  size_t run(size_t level, std::string_view text, size_t begin, bool final, RegexBudget& budget,
             const Emit& emit) const {
    if (level == stages_.size()) {
      if (!final) return begin;
      if (begin < text.size()) emit(text.substr(begin));
      return text.size();
    }
    const Stage& stage = stages_[level];
    const bool last = level + 1 == stages_.size();
    while (begin < text.size()) {
      const Piece piece = next(stage, text, begin, final, budget);
      if (piece.open && !final) {
        // The piece may still grow; what the next stages are sure of inside it can go out where growth is
        // all.
        if (last || !grows_only(stage)) return begin;
        return begin + run(level + 1, text.substr(begin, piece.end - begin), 0, false, budget, emit);
      }
      if (piece.drop) {
      } else if (last) {
        emit(text.substr(begin, piece.end - begin));
      } else {
        run(level + 1, text.substr(begin, piece.end - begin), 0, true, budget, emit);
      }
      begin = piece.end;
    }
    return begin;
  }

  std::vector<Stage> stages_;
  bool has_regex_ = false;
};

}  // namespace tril
