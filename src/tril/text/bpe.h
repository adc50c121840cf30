// Byte-level BPE: text → pieces (pre_tokenizer) → bytes → merges → ids, and back. Any byte string goes in and
// comes back unchanged. What it leaves out: training (bpe_train), reading files (tokenizer_json_bpe,
// bpe_files, tiktoken_file) and text too large for memory (bpe_stream).
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tril/text/added_tokens.h"
#include "tril/text/bpe_merge.h"
#include "tril/text/piece_table.h"
#include "tril/text/pre_tokenizer.h"
#include "tril/text/tokenizer.h"

namespace tril {

/// All that defines a byte-level BPE tokenizer. Ids are positions in `tokens`.
struct BpeDefinition {
  struct Merge {
    int32_t left, right, merged;
    uint32_t rank;  // lower merges first; equal ranks merge from the left
  };

  std::vector<std::string> tokens;  // in the byte alphabet ("Ġthe"); "" where an id is not used
  std::vector<Merge> merges;        // in the order of their ranks
  std::vector<AddedToken> added;    // with ids inside or behind `tokens`
  PreTokenizer pre_tokenizer;
  bool add_prefix_space = false;  // each section of text gets a leading blank where it has none
  bool fuse_unk = false;          // unknown bytes side by side give one unknown token
  bool ignore_merges = false;     // a piece that is a token is that token, whatever the merges say
  std::optional<int32_t> bos, eos, unk;
  // Parts of tokenizer.json, written back as they were read.
  std::string pre_tokenizer_json = "null", post_processor_json = "null", decoder_json = "null";
};

class BpeTokenizer final : public Tokenizer {
 public:
  /// Throws Refusal where two tokens are equal.
  explicit BpeTokenizer(BpeDefinition definition);
  BpeTokenizer(const BpeTokenizer&) = delete;
  BpeTokenizer& operator=(const BpeTokenizer&) = delete;

  std::string_view kind() const override { return "bpe"; }
  bool lossy() const override { return lossy_; }
  int64_t vocab_size() const override { return static_cast<int64_t>(starts_.size()) - 1; }
  std::vector<int32_t> encode(std::string_view text) const override {
    return encode(text, Specials::kAsText);
  }
  /// With kAsTokens, special tokens that are written out in the text become their ids.
  std::vector<int32_t> encode(std::string_view text, Specials specials) const;
  /// Special tokens give nothing; with `show_specials` they give their text.
  std::string decode(std::span<const int32_t> ids) const override { return decode(ids, false); }
  std::string decode(std::span<const int32_t> ids, bool show_specials) const;
  /// Bytes that are no whole code point are written as <0xNN>.
  std::string token_text(int32_t id) const override;
  std::optional<int32_t> bos() const override { return definition_.bos; }
  std::optional<int32_t> eos() const override { return definition_.eos; }
  std::optional<int32_t> unk() const override { return definition_.unk; }
  std::string to_json() const override;

  /// The bytes that an id stands for. Throws Refusal on an id outside the vocabulary.
  std::string_view token_bytes(int32_t id) const;
  bool is_special(int32_t id) const;
  /// The id of a token written as in tokenizer.json ("Ġthe", "<|endoftext|>").
  std::optional<int32_t> token_id(std::string_view token) const;
  const BpeDefinition& definition() const { return definition_; }

  /// Working memory of one encoder: one a thread.
  struct Scratch {
    PieceMerger merger;
    std::vector<int32_t> piece;
    const char* text =
        nullptr;  // what is being encoded, and how many bytes came before: for positions in errors
    int64_t bytes_before = 0;
  };
  struct Part {
    size_t end;      // the text before it is encoded
    size_t section;  // where the section that `end` lies in starts: 0, or behind the last added token
  };
  /// Encodes text[begin, …) behind `ids`: all of it with `final`; without, what no further text can change.
  /// Bytes before `begin` are context, and start where the section does or lookbehind() bytes before.
  Part encode_part(std::string_view text, size_t begin, bool final, Specials specials, Scratch& scratch,
                   std::vector<int32_t>& ids) const;
  /// How many bytes before a place encode_part may look at.
  size_t lookbehind() const { return definition_.pre_tokenizer.lookbehind(); }

 private:
  Part encode_sections(int pass, std::string_view text, size_t begin, bool final, Specials specials,
                       Scratch& scratch, std::vector<int32_t>& ids) const;
  size_t encode_section(std::string_view text, size_t begin, bool final, Scratch& scratch,
                        std::vector<int32_t>& ids) const;
  void encode_piece(std::string_view piece, Scratch& scratch, std::vector<int32_t>& ids) const;
  void index_tokens();
  void index_merges();

  BpeDefinition definition_;
  std::string bytes_;             // of all tokens, one behind the other
  std::vector<uint32_t> starts_;  // where each id's bytes start in bytes_
  std::vector<bool> special_;
  std::vector<int32_t> byte_ids_;  // of the 256 bytes, -1 for none
  PairTable pairs_;
  PieceTable direct_;  // pieces that become one id, found without merging
  AddedTokenMatcher matchers_[2];
  bool lossy_ = false;
};

}  // namespace tril
