#include "tril/text/bpe_stream.h"

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "tril/base/error.h"
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

void encode_file(const std::string& path, const BpeTokenizer& tokenizer, Specials specials,
                 const std::function<void(std::span<const int32_t>)>& sink,
                 const std::function<void(int64_t, int64_t)>& progress, int64_t skip) {
  constexpr size_t kChunk = 1 << 22;
  std::error_code error;
  const auto total = static_cast<int64_t>(std::filesystem::file_size(path, error));
  std::ifstream file(path, std::ios::binary);
  if (error || !file) refuse("{}: can't be read{}{}", path, error ? ": " : "", error ? error.message() : "");
  BpeStreamEncoder encoder(tokenizer, specials);
  std::string chunk(kChunk, '\0');
  std::vector<int32_t> ids;
  file.seekg(skip);
  for (int64_t done = std::min(skip, total); file;) {
    file.read(chunk.data(), static_cast<std::streamsize>(chunk.size()));
    const auto got = file.gcount();
    if (file.bad()) refuse("{}: reading stopped at byte {}", path, done);
    done += got;
    encoder.feed({chunk.data(), static_cast<size_t>(got)}, ids);
    sink(ids);
    ids.clear();
    if (progress) progress(done, total);
  }
  encoder.finish(ids);
  sink(ids);
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
