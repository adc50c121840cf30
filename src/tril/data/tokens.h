// The ids of one part of the data (train, validation or test): one array, and where its documents start.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

namespace tril {

/// Invariants: starts.front() = 0, starts.back() = ids.size(), starts rises. A word document is BOS w1 … wn
/// EOS; a document of a stream is its ids and, where the stream has several, the end token.
struct Tokens {
  std::vector<int32_t> ids;
  std::vector<int64_t> starts = {0};
  std::vector<uint64_t>
      document_ids;        // the first 8 bytes of each document's hash (split.h); empty for split tail
  int64_t text_bytes = 0;  // of the text as the tokenizer sees it: bits per byte are over these
  int64_t content = 0;     // ids that text gave: without BOS, EOS and end tokens

  int64_t documents() const { return static_cast<int64_t>(starts.size()) - 1; }
  std::span<const int32_t> document(int64_t index) const {
    const auto i = static_cast<size_t>(index);
    return {ids.data() + starts[i], static_cast<size_t>(starts[i + 1] - starts[i])};
  }
  /// Closes the document that the ids since the last start make.
  void end_document() { starts.push_back(static_cast<int64_t>(ids.size())); }
};

}  // namespace tril
