// The audit: what a corpus is made of, counted, so that nothing is taken on faith: documents, duplicates,
// overlap between the parts, unknown words, lengths, characters that no token holds, encoding trouble. It
// leaves out judging style or content, and finding near duplicates.
#pragma once
#include <array>
#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "tril/data/source.h"
#include "tril/data/split.h"
#include "tril/data/tokens.h"

namespace tril {

struct PartAudit {
  int64_t documents = 0;
  int64_t tokens = 0;   // that text gave: without BOS, EOS and end tokens
  int64_t targets = 0;  // what a model of this kind is asked in one pass over the part
  int64_t unknown = 0;  // tokens that are <UNK>
  int64_t text_bytes = 0;
};

struct LengthAudit {  // tokens of a document, BOS, EOS and end tokens left out; over all parts
  int64_t shortest = 0, longest = 0;
  double median = 0;
};

struct Audit {
  std::string documents_rule, split, tokenizer;
  std::array<PartAudit, kParts> parts;
  int64_t empty_documents = 0;  // dropped: without text, or without a word
  int64_t duplicates = 0;       // dropped: the same normalized text came before
  int64_t overlap = 0;          // documents that stand in two parts: 0 unless something is wrong
  LengthAudit lengths;
  int64_t vocab_size = 0;
  int64_t vocabulary_cap = 0;                // 0: none
  int64_t distinct_words = 0;                // word tokenizer: in all parts
  std::map<std::string, int64_t> uncovered;  // visible characters that belong to no token, and how many
  EncodingTrouble encoding;
  std::vector<std::string> notes, warnings;  // whole sentences, as they were told

  int64_t documents() const { return parts[0].documents + parts[1].documents + parts[2].documents; }
};

/// Counts what the parts tell: documents, tokens, unknown, overlap, lengths. `unk` is the id of <UNK> or -1,
/// `by_document` whether targets are counted by document, `lengths` the documents' lengths, in any order.
void count_parts(const std::array<Tokens, kParts>& parts, int32_t unk, bool by_document,
                 std::vector<int64_t> lengths, Audit& audit);

/// The audit as JSON (docs/data.md names the fields). A rate over no token is null.
nlohmann::json audit_json(const Audit& audit);

/// The audit as lines for a reader.
std::string audit_text(const Audit& audit);

}  // namespace tril
