#include "tril/text/normalize.h"

#include <utf8proc.h>

#include <algorithm>
#include <array>
#include <vector>

#include "tril/text/unicode.h"
#include "tril/text/utf8.h"

namespace tril {
namespace {

using CodePoints = std::vector<utf8proc_int32_t>;

constexpr char kSpace = ' ';

/// ASCII lower case with White_Space as one space.
constexpr std::array<char, 128> ascii_table() {
  std::array<char, 128> table{};
  for (int c = 0; c < 128; ++c) table[c] = static_cast<char>(c >= 'A' && c <= 'Z' ? c + 32 : c);
  for (int c : {9, 10, 11, 12, 13}) table[c] = kSpace;
  return table;
}
constexpr std::array<char, 128> kAscii = ascii_table();

int combining_class(utf8proc_int32_t c) {
  return utf8proc_get_property(c)->combining_class;
}

/// Appends the compatibility decomposition of c.
void decompose(utf8proc_int32_t c, CodePoints& out) {
  constexpr int kLongest = 18;  // U+FDFA
  const size_t before = out.size();
  out.resize(before + kLongest);
  int boundary = UTF8PROC_BOUNDCLASS_START;
  const auto options = static_cast<utf8proc_option_t>(UTF8PROC_COMPAT | UTF8PROC_DECOMPOSE | UTF8PROC_STABLE);
  const auto count = utf8proc_decompose_char(c, out.data() + before, kLongest, options, &boundary);
  out.resize(before + static_cast<size_t>(std::clamp<utf8proc_ssize_t>(count, 0, kLongest)));
}

/// Canonical order: each run of marks sorted by combining class, equal ones as they stood. utf8proc's own
/// ordering is quadratic in a run's length, so a hostile text could stall it.
void order_marks(CodePoints& text) {
  const auto by_class = [](auto a, auto b) { return combining_class(a) < combining_class(b); };
  for (auto at = text.begin(); at != text.end();) {
    if (combining_class(*at) == 0) {
      ++at;
      continue;
    }
    const auto end = std::find_if(at, text.end(), [](auto c) { return combining_class(c) == 0; });
    if (!std::is_sorted(at, end, by_class)) std::stable_sort(at, end, by_class);
    at = end;
  }
}

void nfkc(const CodePoints& text, CodePoints& out) {
  out.clear();
  for (const auto c : text) decompose(c, out);
  order_marks(out);
  const auto options = static_cast<utf8proc_option_t>(UTF8PROC_COMPOSE | UTF8PROC_STABLE);
  const auto size = utf8proc_normalize_utf32(out.data(), static_cast<utf8proc_ssize_t>(out.size()), options);
  out.resize(static_cast<size_t>(std::max<utf8proc_ssize_t>(size, 0)));
}

/// Full lower case; U+0130 is the one character whose mapping has two code points.
bool lower_case(const CodePoints& text, CodePoints& out) {
  out.clear();
  bool changed = false;
  for (const auto c : text) {
    const auto lower = c == 0x130 ? 'i' : utf8proc_tolower(c);
    changed |= lower != c;
    out.push_back(lower);
    if (c == 0x130) out.push_back(0x307);
  }
  return changed;
}

/// Writes normal text with white space collapsed.
class Writer {
 public:
  explicit Writer(std::string& out) : out_(out) {}

  void ascii(std::string_view run) {
    const size_t before = out_.size();
    out_.resize(before + run.size() + 1);
    char* put = out_.data() + before;
    for (const char c : run) {
      const char lower = kAscii[static_cast<unsigned char>(c)];
      // The last character written is a space only while one is due: text never starts with one.
      if (lower == kSpace && (put == out_.data() || put[-1] == kSpace)) continue;
      *put++ = lower;
    }
    out_.resize(static_cast<size_t>(put - out_.data()));
  }

  void code_point(utf8proc_int32_t c) {
    if (!is_white_space(static_cast<char32_t>(c))) {
      append_utf8(static_cast<char32_t>(c), out_);
    } else if (!out_.empty() && out_.back() != kSpace) {
      out_.push_back(kSpace);
    }
  }

  void finish() {
    if (!out_.empty() && out_.back() == kSpace) out_.pop_back();
  }

 private:
  std::string& out_;
};

size_t ascii_run_end(std::string_view text, size_t at) {
  while (at < text.size() && static_cast<unsigned char>(text[at]) < 0x80) ++at;
  return at;
}

}  // namespace

void normalize_into(std::string_view text, std::string& out) {
  out.clear();
  out.reserve(text.size() + 1);
  Writer writer(out);
  CodePoints given, normal, lower;
  for (size_t at = 0; at < text.size();) {
    const size_t end = ascii_run_end(text, at);
    if (end == text.size()) {
      writer.ascii(text.substr(at));
      break;
    }
    // A mark may join the ASCII character before it; no character joins an ASCII character after it.
    const size_t start = end > at ? end - 1 : end;
    writer.ascii(text.substr(at, start - at));
    given.clear();
    for (at = start; at < text.size() && (at < end || static_cast<unsigned char>(text[at]) >= 0x80);) {
      const CodePoint c = code_point_at(text, at);
      given.push_back(static_cast<utf8proc_int32_t>(c.value));
      at += static_cast<size_t>(c.length);
    }
    nfkc(given, normal);
    if (lower_case(normal, lower)) {
      nfkc(lower, normal);
    }
    for (const auto c : normal) writer.code_point(c);
  }
  writer.finish();
}

std::string normalize(std::string_view text) {
  std::string out;
  normalize_into(text, out);
  return out;
}

}  // namespace tril
