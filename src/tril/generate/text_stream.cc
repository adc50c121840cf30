#include "tril/generate/text_stream.h"

#include <algorithm>

#include "tril/base/error.h"
#include "tril/text/utf8.h"

namespace tril {

StopText::StopText(std::string text) : text_(std::move(text)), border_(text_.size() + 1, 0) {
  if (text_.empty()) refuse("--stop needs a text, is empty");
  require_utf8(text_, "--stop");
  for (size_t i = 1, length = 0; i < text_.size(); ++i) {
    while (length > 0 && text_[i] != text_[length]) length = border_[length];
    if (text_[i] == text_[length]) ++length;
    border_[i + 1] = length;
  }
}

size_t StopText::push(char byte) {
  if (matched_ == text_.size()) matched_ = border_[matched_];
  while (matched_ > 0 && text_[matched_] != byte) matched_ = border_[matched_];
  if (text_[matched_] == byte) ++matched_;
  return matched_;
}

TextStream::TextStream(const std::vector<std::string>& stops, std::function<void(std::string_view)> on_text)
    : on_text_(std::move(on_text)) {
  for (const std::string& stop : stops) stops_.emplace_back(stop);
}

std::string TextStream::begin(std::string_view prompt) {
  return characters_.push(prompt);
}

void TextStream::hand_on(size_t end) {
  if (end <= shown_) return;
  if (on_text_) on_text_(std::string_view(text_).substr(shown_, end - shown_));
  shown_ = end;
}

bool TextStream::push(std::string_view bytes) {
  for (const char byte : characters_.push(bytes)) {
    text_ += byte;
    held_ = 0;
    size_t complete = 0;
    for (StopText& stop : stops_) {
      const size_t matched = stop.push(byte);
      held_ = std::max(held_, matched);
      if (matched == stop.size()) complete = std::max(complete, matched);
    }
    if (complete == 0) continue;
    text_.resize(text_.size() - complete);
    stopped_ = true;
    hand_on(text_.size());
    return true;
  }
  hand_on(text_.size() - held_);
  return false;
}

void TextStream::finish() {
  if (!stopped_) text_ += characters_.finish();
  hand_on(text_.size());
}

}  // namespace tril
