#include "tril/text/split_regex.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include <algorithm>
#include <utility>

#include "tril/base/error.h"
#include "tril/text/loose_utf8.h"

namespace tril {
namespace {

constexpr size_t kLongestSource = 1 << 16;
// What a place may take before it is charged. Both grow fourfold, so the work is below twice what was
// charged.
constexpr uint32_t kFreeSteps = 256;
constexpr size_t kFreeWindow = 256;
constexpr uint32_t kHeapKibibytes = 1 << 18;

std::string message(int error) {
  PCRE2_UCHAR text[256];
  pcre2_get_error_message(error, text, sizeof text);
  return reinterpret_cast<const char*>(text);
}

/// A source for error lines: cut where it is long.
std::string shown(const std::string& source) {
  return source.size() <= 80 ? source : source.substr(0, complete_prefix(source.substr(0, 80))) + "...";
}

/// In PCRE2 \p{Han} takes in script extensions; in Oniguruma and in Rust, which tokenizers are made for, it
/// is the script alone: \p{sc:Han}. Other properties don't compile with sc: and stay as they are.
std::string own_scripts(const std::string& source) {
  std::string result;
  for (size_t at = 0; at < source.size();) {
    const bool property = source[at] == '\\' && at + 3 < source.size() && (source[at + 1] | 0x20) == 'p' &&
                          source[at + 2] == '{';
    const size_t end = property ? source.find('}', at) : std::string::npos;
    if (end == std::string::npos || end - at < 6) {  // categories have at most two letters
      const size_t bytes = source[at] == '\\' ? std::min<size_t>(2, source.size() - at) : 1;
      result.append(source, at, bytes);
      at += bytes;
      continue;
    }
    const size_t name = at + 3 + (source[at + 3] == '^');
    const std::string before = source.substr(at, name - at), behind = source.substr(name, end + 1 - name);
    const std::string script = before + "sc:" + behind;
    int error = 0;
    PCRE2_SIZE offset = 0;
    pcre2_code* code = pcre2_compile(reinterpret_cast<PCRE2_SPTR>(script.data()), script.size(), PCRE2_UTF,
                                     &error, &offset, nullptr);
    result += code ? script : before + behind;
    pcre2_code_free(code);
    at = end + 1;
  }
  return result;
}

/// What a match writes to. One for each thread: its memory is kept from match to match.
struct Workspace {
  pcre2_match_data* data = pcre2_match_data_create(1, nullptr);
  pcre2_match_context* context = pcre2_match_context_create(nullptr);
  Workspace() { pcre2_set_heap_limit(context, kHeapKibibytes); }
  ~Workspace() {
    pcre2_match_context_free(context);
    pcre2_match_data_free(data);
  }
};

}  // namespace

struct SplitRegex::Code {
  explicit Code(const std::string& written) {
    const std::string source = written.size() > kLongestSource ? written : own_scripts(written);
    pcre2_compile_context* context = pcre2_compile_context_create(nullptr);
    pcre2_set_max_pattern_length(context, kLongestSource);
    int error = 0;
    PCRE2_SIZE offset = 0;
    code = pcre2_compile(reinterpret_cast<PCRE2_SPTR>(source.data()), source.size(),
                         PCRE2_UTF | PCRE2_UCP | PCRE2_MULTILINE | PCRE2_NEVER_BACKSLASH_C, &error, &offset,
                         context);
    pcre2_compile_context_free(context);
    if (!code) refuse("split pattern '{}': {} (at byte {})", shown(written), message(error), offset);
    uint32_t characters = 0;
    pcre2_pattern_info(code, PCRE2_INFO_MAXLOOKBEHIND, &characters);
    lookbehind = 4 * static_cast<size_t>(characters);
  }
  ~Code() { pcre2_code_free(code); }
  Code(const Code&) = delete;
  Code& operator=(const Code&) = delete;

  pcre2_code* code = nullptr;
  size_t lookbehind = 0;
};

SplitRegex::SplitRegex(std::string source, SplitBehavior behavior, bool invert)
    : source_(std::move(source)),
      behavior_(behavior),
      invert_(invert),
      code_(std::make_shared<Code>(source_)) {}

size_t SplitRegex::lookbehind() const {
  return code_->lookbehind;
}

size_t SplitRegex::match_at(std::string_view text, size_t at, bool final, RegexBudget& budget) const {
  static thread_local Workspace workspace;
  uint32_t steps = kFreeSteps;
  size_t window = kFreeWindow;
  const auto charge = [&](int64_t work) {
    budget.left -= work;
    if (budget.left < 0) {
      refuse(
          "split pattern '{}' takes too long at byte {} of the text; use a tokenizer with a simpler pattern",
          shown(source_), at);
    }
  };
  for (;;) {
    size_t end = text.size() - at <= window ? text.size() : at + window;
    while (end < text.size() && (text[end] & 0xC0) == 0x80) ++end;
    const bool all = end == text.size();
    pcre2_set_match_limit(workspace.context, steps);
    const int found = pcre2_match(code_->code, reinterpret_cast<PCRE2_SPTR>(text.data()), end, at,
                                  PCRE2_ANCHORED | PCRE2_NOTEMPTY | PCRE2_NO_UTF_CHECK |
                                      (all && final ? 0u : static_cast<uint32_t>(PCRE2_PARTIAL_HARD)),
                                  workspace.data, workspace.context);
    if (found >= 0) return pcre2_get_ovector_pointer(workspace.data)[1];
    if (found == PCRE2_ERROR_NOMATCH) return at;
    if (found == PCRE2_ERROR_PARTIAL) {
      if (all) return std::string_view::npos;
      window *= 4;
      charge(static_cast<int64_t>(window));
    } else if (found == PCRE2_ERROR_MATCHLIMIT && steps <= UINT32_MAX / 4) {
      steps *= 4;
      charge(steps);
    } else {
      refuse("split pattern '{}': {} (at byte {} of the text)", shown(source_), message(found), at);
    }
  }
}

SplitRegex::Segment SplitRegex::segment(std::string_view text, size_t begin, bool final,
                                        RegexBudget& budget) const {
  for (size_t at = begin; at < text.size(); at += loose_char_at(text, at).bytes) {
    const size_t end = match_at(text, at, final, budget);
    if (end == std::string_view::npos) return {text.size(), at == begin, true};
    if (end != at) return at == begin ? Segment{end, !invert_, false} : Segment{at, invert_, false};
  }
  return {text.size(), invert_, true};
}

Piece SplitRegex::next(std::string_view text, size_t begin, bool final, RegexBudget& budget) const {
  Segment here = segment(text, begin, final, budget);
  const auto follow = [&](bool match, bool only_one) {
    while (here.end < text.size()) {
      const Segment behind = segment(text, here.end, final, budget);
      here.open = behind.open;
      if (behind.match != match) return;
      here.end = behind.end;
      if (only_one) return;
    }
    here.open = true;
  };
  switch (behavior_) {
    case SplitBehavior::kContiguous:
      follow(here.match, false);
      break;
    case SplitBehavior::kMergedWithPrevious:
      if (!here.match) follow(true, true);
      break;
    case SplitBehavior::kMergedWithNext:
      if (here.match) follow(false, true);
      break;
    case SplitBehavior::kIsolated:
    case SplitBehavior::kRemoved:
      break;
  }
  return {here.end, here.open, behavior_ == SplitBehavior::kRemoved && here.match};
}

std::string quote_regex(std::string_view literal) {
  std::string source;
  for (const char c : literal) {
    if (std::string_view("\\^$.|?*+()[]{}-#&~ \t\n\r\f\v").find(c) != std::string_view::npos) source += '\\';
    source += c;
  }
  return source;
}

}  // namespace tril
