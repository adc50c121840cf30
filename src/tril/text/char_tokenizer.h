// The character tokenizer: one id for each code point, text kept byte for byte.
// Its vocabulary is sorted code points and nothing else; microgpt's has one <BOS> more, as its last id, which
// stands before and after each document. It leaves out grapheme clusters and any normalization.
#pragma once
#include <array>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "tril/text/tokenizer.h"

namespace tril {

class CharTokenizer final : public Tokenizer {
 public:
  /// `characters` in id order; with_bos adds <BOS> as the last id. Throws Refusal where one occurs twice.
  explicit CharTokenizer(std::vector<char32_t> characters, bool with_bos = false);

  /// The sorted code points of valid UTF-8 texts.
  static std::vector<char32_t> sorted_code_points(std::span<const std::string_view> texts);

  std::string_view kind() const override { return "char"; }
  bool lossy() const override { return false; }
  int64_t vocab_size() const override { return static_cast<int64_t>(characters_.size()) + with_bos_; }
  std::vector<int32_t> encode(std::string_view text) const override;
  std::string decode(std::span<const int32_t> ids) const override;
  std::string token_text(int32_t id) const override;
  std::optional<int32_t> bos() const override;
  /// <BOS> where there is one: it ends a document too.
  std::optional<int32_t> eos() const override { return bos(); }
  /// <BOS> where there is one, else newline where the vocabulary has it.
  std::optional<int32_t> end_of_document() const override;
  std::vector<UnknownToken> unknown(std::string_view text) const override;
  std::string to_json() const override;

 private:
  int32_t id_of(char32_t c) const;  // -1 where there is none

  std::vector<char32_t> characters_;
  bool with_bos_;
  std::array<int32_t, 128> ascii_;  // -1 where there is none
  std::unordered_map<char32_t, int32_t> others_;
};

}  // namespace tril
