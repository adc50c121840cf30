#include "tril/text/bpe_stream.h"

#include <algorithm>

#include "tril/text/loose_utf8.h"
#include "tril/text/utf8.h"

namespace tril {

void BpeStreamEncoder::encode(std::string_view chunk, bool final, std::vector<int32_t>& ids) {
  pending_ += chunk;
  // A stretch that is not settled is scanned again only when it has doubled, so the work stays linear.
  if (!final && pending_.size() < retry_) return;
  const auto part = tokenizer_.encode_part(pending_, context_, final, specials_, scratch_, ids);
  // Keep what the next part may look back at: single-word tokens at one code point, wherever it lies;
  // patterns never at what is before their section.
  const size_t behind = tokenizer_.lookbehind();
  const size_t wanted = part.end - std::min(part.end, std::max<size_t>(behind, 4));
  const bool sectioned = behind > 0 || tokenizer_.definition().add_prefix_space;
  const size_t from = sectioned ? std::max(part.section, wanted) : wanted;
  context_ = part.end - from;
  pending_.erase(0, from);
  scratch_.bytes_before += static_cast<int64_t>(from);
  retry_ = 2 * pending_.size();
  if (!final) return;
  pending_.clear();
  context_ = retry_ = 0;
  scratch_.bytes_before = 0;
}

std::string Utf8Stream::push(std::string_view bytes) {
  held_ += bytes;
  const size_t whole = complete_prefix(held_);
  std::string text;
  for (size_t at = 0; at < whole;) {
    const LooseChar c = loose_char_at(std::string_view(held_).substr(0, whole), at);
    append_utf8(static_cast<char32_t>(c.value), text);
    at += c.bytes;
  }
  held_.erase(0, whole);
  return text;
}

std::string Utf8Stream::finish() {
  const bool broken = !held_.empty();
  held_.clear();
  return broken ? "\uFFFD" : "";
}

}  // namespace tril
