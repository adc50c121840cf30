// Training of byte-level BPE: the most frequent adjacent pair becomes a token, again and again. The merges
// are those of Hugging Face's BpeTrainer, ties included. What it leaves out: dropping rare characters (the
// alphabet is always all 256 bytes) and a longest token.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "tril/text/bpe.h"

namespace tril {

struct BpeTrainSettings {
  int64_t vocab_size = 4096;  // with the 256 bytes and the end token; at least 257
  SplitPattern pattern = SplitPattern::kGpt2;
  std::string end_token = "<|endoftext|>";  // takes the last id; "" for none (then at least 256 ids)
  int64_t min_count = 1;                    // a pair seen less often ends the training
  /// Called now and then with the merges made so far and those asked for.
  std::function<void(int64_t done, int64_t total)> progress = {};
};

/// Counts the pieces of texts, then makes merges of them. Memory grows with the distinct pieces, not with the
/// text.
class BpeTrainer {
 public:
  /// Throws Refusal where the vocabulary is too small or above 2^31 - 1.
  explicit BpeTrainer(BpeTrainSettings settings);
  ~BpeTrainer();

  /// Adds a text as one string: pieces never go over its ends.
  void add(std::string_view text);
  /// Bytes added so far, and how many distinct pieces they had.
  int64_t bytes() const;
  int64_t pieces() const;

  /// The tokenizer: ids 0–255 are the bytes in the order of their characters (byte_level.h), then one for
  /// each merge, then the end token. Fewer ids than asked where the text has no more pairs. Throws Refusal
  /// where no text was added. Once only: the counts are used up.
  BpeDefinition train();

 private:
  struct Counts;
  BpeTrainSettings settings_;
  std::unique_ptr<Counts> counts_;
};

/// The merges as lines "left right" in the byte alphabet, in order: what two trainers are compared by.
std::string merge_lines(const BpeDefinition& definition);

}  // namespace tril
