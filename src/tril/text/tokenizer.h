// Tokenizers: text to ids and back. This is the interface that training, generation and export see; the kinds
// are word_tokenizer.h, char_tokenizer.h and bpe.h, and load_tokenizer.h reads any of them from
// tokenizer.json. It leaves out batches, padding and windows (data/), and any way for plain text to become a
// special id.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tril {

/// A piece of text that the vocabulary does not hold. `position` is the index of its id in encode()'s result,
/// counted from 0; for characters that is the character's position in the text.
struct UnknownToken {
  std::string text;
  int64_t position = 0;
};

/// Thread safety: all members are const and may be called from several threads at once.
class Tokenizer {
 public:
  virtual ~Tokenizer() = default;

  /// "word", "char" or "bpe".
  virtual std::string_view kind() const = 0;
  /// True where decode(encode(x)) may differ from x.
  virtual bool lossy() const = 0;
  /// Number of ids, specials included; ids are 0 … vocab_size() - 1.
  virtual int64_t vocab_size() const = 0;

  /// The ids of a text, without BOS or EOS. A special's name in the text is plain text. Throws Refusal that
  /// names the byte offset (invalid UTF-8; word and char) or the character and its position (unknown; char).
  virtual std::vector<int32_t> encode(std::string_view text) const = 0;
  /// The text of ids. PAD, BOS and EOS give nothing. Throws Refusal on an id outside the vocabulary, with its
  /// position.
  virtual std::string decode(std::span<const int32_t> ids) const = 0;
  /// How one id is shown to a reader; specials by their names. Throws Refusal on an id outside the
  /// vocabulary.
  virtual std::string token_text(int32_t id) const = 0;

  virtual std::optional<int32_t> pad() const { return std::nullopt; }
  virtual std::optional<int32_t> bos() const { return std::nullopt; }
  virtual std::optional<int32_t> eos() const { return std::nullopt; }
  virtual std::optional<int32_t> unk() const { return std::nullopt; }
  /// The id that follows each document in a stream of several: <|endoftext|> for BPE, newline for characters.
  virtual std::optional<int32_t> end_of_document() const { return eos(); }

  /// The text as this tokenizer sees it: what bits per byte are counted over.
  virtual std::string normalized(std::string_view text) const { return std::string(text); }
  /// What encode() would turn into <UNK> or refuse, in order. Never throws for an unknown character.
  virtual std::vector<UnknownToken> unknown(std::string_view /*text*/) const { return {}; }

  /// The exact bytes of tokenizer.json, a file that Hugging Face's `tokenizers` loads too.
  virtual std::string to_json() const = 0;
  /// SHA-256 of to_json(), 64 hex digits: two tokenizers with the same fingerprint give the same ids.
  std::string fingerprint() const;

 protected:
  /// Throws Refusal unless 0 ≤ id < vocab_size().
  void require_id(int32_t id, int64_t position) const;
};

}  // namespace tril
