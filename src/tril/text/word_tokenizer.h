// The word tokenizer: normalized text, cut by the word rule, each word an id of its own.
// Ids: <PAD> 0, <BOS> 1, <EOS> 2, <UNK> 3, then the words in the order given. Text never gives a special: a
// literal
// "<EOS>" is the three tokens "<", "eos", ">". It leaves out choosing the words (data/vocabulary.h).
#pragma once
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "tril/text/tokenizer.h"

namespace tril {

class WordTokenizer final : public Tokenizer {
 public:
  static constexpr int32_t kPad = 0, kBos = 1, kEos = 2, kUnk = 3, kSpecials = 4;

  /// `words` take the ids from 4 on. Throws Refusal where a word occurs twice or is a special's name.
  explicit WordTokenizer(const std::vector<std::string>& words);
  WordTokenizer(const WordTokenizer&) = delete;
  WordTokenizer& operator=(const WordTokenizer&) = delete;

  std::string_view kind() const override { return "word"; }
  bool lossy() const override { return true; }
  int64_t vocab_size() const override { return static_cast<int64_t>(tokens_.size()); }
  std::vector<int32_t> encode(std::string_view text) const override;
  /// Words joined by spaces, with none before closing or after opening punctuation; straight quotes open and
  /// close in turn. <UNK> is shown. encode(decode(ids)) = ids where no id is a special.
  std::string decode(std::span<const int32_t> ids) const override;
  std::string token_text(int32_t id) const override;
  std::optional<int32_t> pad() const override { return kPad; }
  std::optional<int32_t> bos() const override { return kBos; }
  std::optional<int32_t> eos() const override { return kEos; }
  std::optional<int32_t> unk() const override { return kUnk; }
  std::string normalized(std::string_view text) const override;
  std::vector<UnknownToken> unknown(std::string_view text) const override;
  std::string to_json() const override;

  /// The id of one token as the word rule cuts it, kUnk where it has none.
  int32_t id_of(std::string_view word) const {
    const auto found = ids_.find(word);
    return found == ids_.end() ? kUnk : found->second;
  }

 private:
  std::vector<std::string> tokens_;                    // in id order, specials first
  std::unordered_map<std::string_view, int32_t> ids_;  // views into tokens_; words alone
};

/// "<PAD>", "<BOS>", "<EOS>", "<UNK>".
std::span<const std::string_view> word_specials();

}  // namespace tril
