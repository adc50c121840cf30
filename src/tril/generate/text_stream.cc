#include "tril/generate/text_stream.h"

#include <algorithm>

#include "tril/base/error.h"

namespace tril {
namespace {

// The longest end of `text` that is a beginning of `stop`, and not all of it.
size_t begun(std::string_view text, std::string_view stop) {
  for (size_t length = std::min(text.size(), stop.size() - 1); length > 0; --length)
    if (text.substr(text.size() - length) == stop.substr(0, length)) return length;
  return 0;
}

}  // namespace

size_t unfinished_bytes(std::string_view text) {
  for (size_t back = 1; back <= std::min<size_t>(3, text.size()); ++back) {
    const auto byte = static_cast<unsigned char>(text[text.size() - back]);
    if ((byte & 0xC0) == 0x80) continue;  // a continuation byte: its first byte lies further back
    const size_t length = byte >= 0xF0 ? 4 : byte >= 0xE0 ? 3 : byte >= 0xC0 ? 2 : 1;
    return length > back ? back : 0;
  }
  return 0;
}

TextStream::TextStream(std::string before, std::vector<std::string> stops,
                       std::function<void(std::string_view)> on_text)
    : before_(std::move(before)), stops_(std::move(stops)), on_text_(std::move(on_text)) {
  for (const std::string& stop : stops_)
    if (stop.empty()) refuse("--stop needs a text, is empty");
}

void TextStream::hand_on(size_t end) {
  if (end <= shown_) return;
  if (on_text_) on_text_(std::string_view(text_).substr(shown_, end - shown_));
  shown_ = end;
}

// Decoding more tokens may change the end of what was there (a blank before a word), never what was handed
// on.
bool TextStream::show(std::string_view whole) {
  const bool extends = whole.substr(0, before_.size()) == before_;
  text_ = std::string(extends ? whole.substr(before_.size())
                              : whole.substr(std::min(before_.size(), whole.size())));
  size_t first = std::string::npos;
  for (const std::string& stop : stops_) first = std::min(first, text_.find(stop));
  if (first != std::string::npos) {
    text_.resize(first);
    stopped_ = true;
    hand_on(text_.size());
    return true;
  }
  size_t held = unfinished_bytes(text_);
  for (const std::string& stop : stops_) held = std::max(held, begun(text_, stop));
  hand_on(text_.size() - held);
  return false;
}

void TextStream::finish() {
  const size_t broken = stopped_ ? 0 : unfinished_bytes(text_);
  if (broken > 0) {
    text_.resize(text_.size() - broken);
    text_ += "\xEF\xBF\xBD";
  }
  hand_on(text_.size());
}

}  // namespace tril
