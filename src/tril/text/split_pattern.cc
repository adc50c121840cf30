// Hand-written split patterns. A run of one class is scanned once; the one thing looked at twice is a run of
// blanks.
#include "tril/text/split_pattern.h"

#include <utf8proc.h>

#include <array>

#include "tril/text/loose_utf8.h"

namespace tril {
namespace {

enum Class : uint8_t { kLetter, kNumber, kSpace, kNewline, kOther, kEnd };

bool is_blank(Class c) {
  return c == kSpace || c == kNewline;
}

constexpr std::array<Class, 128> ascii_classes() {
  std::array<Class, 128> table{};
  for (int c = 0; c < 128; ++c) {
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    const bool blank = c == ' ' || (c >= '\t' && c <= '\r');
    table[c] = letter                     ? kLetter
               : (c >= '0' && c <= '9')   ? kNumber
               : (c == '\n' || c == '\r') ? kNewline
               : blank                    ? kSpace
                                          : kOther;
  }
  return table;
}
constexpr std::array<Class, 128> kAscii = ascii_classes();

/// White_Space beyond ASCII: all of category Z, and NEL.
Class class_of(uint32_t c) {
  switch (utf8proc_category(static_cast<utf8proc_int32_t>(c))) {
    case UTF8PROC_CATEGORY_LU:
    case UTF8PROC_CATEGORY_LL:
    case UTF8PROC_CATEGORY_LT:
    case UTF8PROC_CATEGORY_LM:
    case UTF8PROC_CATEGORY_LO:
      return kLetter;
    case UTF8PROC_CATEGORY_ND:
    case UTF8PROC_CATEGORY_NL:
    case UTF8PROC_CATEGORY_NO:
      return kNumber;
    case UTF8PROC_CATEGORY_ZS:
    case UTF8PROC_CATEGORY_ZL:
    case UTF8PROC_CATEGORY_ZP:
      return kSpace;
    default:
      return c == 0x85 ? kSpace : kOther;
  }
}

/// A place in the text that remembers how far it has looked.
class Scan {
 public:
  Scan(std::string_view text, size_t begin) : text_(text), at_(begin) { look(); }

  Class current() const { return class_; }
  size_t at() const { return at_; }
  bool done() const { return at_ >= text_.size(); }
  /// The byte `ahead` of the place, or 0 past the end; looking past the end leaves the piece open.
  char byte(size_t ahead) {
    if (at_ + ahead < text_.size()) return text_[at_ + ahead];
    open_ = true;
    return 0;
  }
  void advance() {
    at_ += bytes_;
    look();
  }
  void skip(size_t bytes) {
    at_ += bytes;
    look();
  }
  void skip_run(Class wanted) {
    while (class_ == wanted) advance();
  }
  Piece piece() const { return {at_, open_}; }
  Piece piece_to(size_t end) const { return {end, open_}; }

 private:
  void look() {
    if (at_ >= text_.size()) {
      class_ = kEnd;
      bytes_ = 0;
      open_ = true;
      return;
    }
    const auto lead = static_cast<uint8_t>(text_[at_]);
    if (lead < 0x80) {
      class_ = kAscii[lead];
      bytes_ = 1;
      return;
    }
    const LooseChar c = loose_char_at(text_, at_);
    class_ = c.valid ? class_of(c.value) : kOther;
    bytes_ = c.bytes;
    // Bytes that break off at the end may be the start of a code point.
    if (!c.valid && at_ + c.bytes >= text_.size()) open_ = true;
  }

  std::string_view text_;
  size_t at_;
  Class class_ = kEnd;
  uint8_t bytes_ = 0;
  bool open_ = false;
};

/// Bytes of 's 't 'd 'm 'll 've 're at the place, or 0. Without case, s is also U+017F (long s).
size_t contraction(Scan& scan, bool any_case) {
  if (scan.byte(0) != '\'') return 0;
  const auto lower = [&](char c) {
    return any_case && c >= 'A' && c <= 'Z' ? static_cast<char>(c | 0x20) : c;
  };
  const char first = lower(scan.byte(1));
  if (first == 's' || first == 't' || first == 'd' || first == 'm') return 2;
  if (first == 'l' || first == 'v' || first == 'r') {
    const char second = lower(scan.byte(2));
    return second == (first == 'l' ? 'l' : 'e') ? 3 : 0;
  }
  if (any_case && first == '\xC5' && scan.byte(2) == '\xBF') return 3;
  return 0;
}

/// A run of blanks [begin, …): before other text the last blank is left for the next piece, unless it is the
/// only one: \s+(?!\S)|\s+. With `lines`, a run that has line ends stops after the last: \s*[\r\n]+ comes
/// first. With `tail`, a run at the end of the text stays whole: \s++$ comes before all.
Piece blank_piece(Scan& scan, bool lines, bool tail) {
  const size_t begin = scan.at();
  size_t last = begin, after_newline = 0;
  while (is_blank(scan.current())) {
    last = scan.at();
    const bool newline = scan.current() == kNewline;
    scan.advance();
    if (newline) after_newline = scan.at();
  }
  if (tail && scan.done()) return scan.piece();
  if (lines && after_newline) return scan.piece_to(after_newline);
  if (scan.done() || last == begin) return scan.piece();
  return scan.piece_to(last);
}

Piece gpt2_piece(std::string_view text, size_t begin) {
  Scan scan(text, begin);
  if (const size_t bytes = contraction(scan, false)) return scan.piece_to(begin + bytes);
  Scan body = scan;
  if (text[begin] == ' ') body.skip(1);
  const Class kind = body.current();
  if (kind == kLetter || kind == kNumber || kind == kOther) {
    body.skip_run(kind);
    return body.piece();
  }
  return blank_piece(scan, false, false);
}

Piece gpt4_piece(std::string_view text, size_t begin, int digits, bool tail) {
  Scan scan(text, begin);
  if (const size_t bytes = contraction(scan, true)) return scan.piece_to(begin + bytes);
  if (scan.current() == kNumber) {
    for (int i = 0; i < digits && scan.current() == kNumber; ++i) scan.advance();
    return scan.piece();
  }
  Scan body = scan;
  if (scan.current() == kSpace || scan.current() == kOther) body.advance();  // one sign may lead a word
  if (body.current() == kLetter) {
    body.skip_run(kLetter);
    return body.piece();
  }
  body = scan;
  if (text[begin] == ' ') body.skip(1);
  if (body.current() == kOther) {
    body.skip_run(kOther);
    body.skip_run(kNewline);
    return body.piece();
  }
  return blank_piece(scan, true, tail);
}

Piece digits_piece(std::string_view text, size_t begin, bool runs) {
  Scan scan(text, begin);
  const bool number = scan.current() == kNumber;
  do {
    scan.advance();
  } while (!scan.done() && (scan.current() == kNumber) == number && (runs || !number));
  return scan.piece();
}

constexpr std::string_view kGpt2Source =
    R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";
constexpr std::string_view kGpt4Source =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
constexpr std::string_view kGpt4TiktokenSource =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s+\z|\s*[\r\n]+|\s+(?!\S)|\s+)";
constexpr std::string_view kQwen2Source =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
// Other spellings of the same expressions, as files have them.
constexpr std::string_view kGpt2Short =
    R"('(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";
constexpr std::string_view kGpt4Possessive =
    R"('(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]++[\r\n]*|\s*[\r\n]|\s+(?!\S)|\s+)";

}  // namespace

Piece next_piece(SplitPattern pattern, std::string_view text, size_t begin) {
  switch (pattern) {
    case SplitPattern::kGpt2:
      return gpt2_piece(text, begin);
    case SplitPattern::kGpt4:
      return gpt4_piece(text, begin, 3, false);
    case SplitPattern::kGpt4Tiktoken:
      return gpt4_piece(text, begin, 3, true);
    case SplitPattern::kQwen2:
      return gpt4_piece(text, begin, 1, false);
    case SplitPattern::kDigits:
      return digits_piece(text, begin, false);
    case SplitPattern::kDigitRuns:
      return digits_piece(text, begin, true);
    case SplitPattern::kWhole:
      break;
  }
  return {text.size(), true};
}

std::string_view pattern_source(SplitPattern pattern) {
  switch (pattern) {
    case SplitPattern::kGpt2:
      return kGpt2Source;
    case SplitPattern::kGpt4:
      return kGpt4Source;
    case SplitPattern::kGpt4Tiktoken:
      return kGpt4TiktokenSource;
    case SplitPattern::kQwen2:
      return kQwen2Source;
    default:
      return "";
  }
}

std::optional<SplitPattern> known_pattern(std::string_view source) {
  if (source == kGpt2Source || source == kGpt2Short) return SplitPattern::kGpt2;
  if (source == kGpt4Source || source == kGpt4Possessive) return SplitPattern::kGpt4;
  if (source == kGpt4TiktokenSource) return SplitPattern::kGpt4Tiktoken;
  if (source == kQwen2Source) return SplitPattern::kQwen2;
  return std::nullopt;
}

}  // namespace tril
