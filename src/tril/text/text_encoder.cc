#include "tril/text/text_encoder.h"

#include <algorithm>

#include "tril/base/error.h"
#include "tril/base/quote.h"
#include "tril/text/normalize.h"
#include "tril/text/utf8.h"
#include "tril/text/word_tokenizer.h"
#include "tril/text/words.h"

namespace tril {

TextEncoder::TextEncoder(std::string name, const Tokenizer* tokenizer, Specials specials)
    : name_(std::move(name)), tokenizer_(tokenizer) {
  if (const auto* bpe = dynamic_cast<const BpeTokenizer*>(tokenizer))
    bpe_ = std::make_unique<BpeStreamEncoder>(*bpe, specials);
}

void TextEncoder::give(const std::vector<int32_t>& ids, const Take& take) {
  for (const int32_t id : ids) take({id, {}});
  count_ += static_cast<int64_t>(ids.size());
}

void TextEncoder::feed(std::string_view piece, const Take& take) {
  if (bpe_ != nullptr) {
    take_bpe([&](std::vector<int32_t>& ids) { bpe_->feed(piece, ids); }, take);
  } else if (tokenizer_ != nullptr && tokenizer_->kind() == "char") {
    feed_characters(piece, take);
  } else {
    feed_words(piece, take);
  }
}

void TextEncoder::take_bpe(const std::function<void(std::vector<int32_t>&)>& body, const Take& take) {
  std::vector<int32_t> ids;
  try {
    body(ids);
  } catch (const Refusal& refusal) {
    refuse("{}: {}", name_, refusal.what());
  }
  give(ids, take);
}

void TextEncoder::finish(const Take& take) {
  characters_ = bytes_ = 0;
  if (bpe_ != nullptr) take_bpe([&](std::vector<int32_t>& ids) { bpe_->finish(ids); }, take);
}

void TextEncoder::feed_characters(std::string_view piece, const Take& take) {
  const std::vector<UnknownToken> unknown = tokenizer_->unknown(piece);
  if (!unknown.empty()) {
    const size_t byte = code_point_offset(piece, unknown[0].position);
    refuse("{}: character {} (byte {}): {} ({}) is not among the {} ids of the vocabulary", name_,
           characters_ + unknown[0].position + 1, bytes_ + static_cast<int64_t>(byte),
           in_quotes(unknown[0].text), code_point_name(code_point_at(piece, byte).value),
           tokenizer_->vocab_size());
  }
  const std::vector<int32_t> ids = tokenizer_->encode(piece);
  characters_ += static_cast<int64_t>(ids.size());
  bytes_ += static_cast<int64_t>(piece.size());
  give(ids, take);
}

void TextEncoder::feed_words(std::string_view piece, const Take& take) {
  constexpr size_t kMostKept = 100'000;
  const auto* words = dynamic_cast<const WordTokenizer*>(tokenizer_);
  const std::string normal = normalize(piece);
  WordScanner scanner(normal);
  for (std::string_view word; scanner.next(word); ++count_) {
    const int32_t id = words != nullptr ? words->id_of(word) : -1;
    take({id, word});
    if (words == nullptr || id != WordTokenizer::kUnk) continue;
    ++unknown_count_;
    const auto known = unknown_.find(word);
    if (known != unknown_.end()) {
      ++known->second;
    } else if (unknown_.size() < kMostKept) {
      unknown_.emplace(word, 1);
    }
  }
  dropped_ += scanner.dropped();
}

std::vector<std::pair<std::string, int64_t>> TextEncoder::unknown(size_t most) const {
  std::vector<std::pair<std::string, int64_t>> all(unknown_.begin(), unknown_.end());
  std::stable_sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
  if (all.size() > most) all.resize(most);
  return all;
}

}  // namespace tril
