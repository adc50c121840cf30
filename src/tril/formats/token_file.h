// Files of token ids (.bin): plain little-endian ids of 16 or 32 bits, as nanoGPT writes them, or the same
// behind llm.c's header of 1,024 bytes. docs/formats/token-bin.md. What it leaves out: the tokenizer, which
// such files don't tell.
#pragma once
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tril/base/file.h"

namespace tril {

class TokenFile {
 public:
  /// Maps and checks. `bits` is the width in a file without a header; 16 or 32. Throws Refusal where the size
  /// is no whole number of ids, or a header claims another number of ids than the file holds.
  explicit TokenFile(const std::string& path, int bits = 16);

  const std::string& path() const { return file_.path(); }
  /// The whole file, header included.
  std::string_view bytes() const { return file_.bytes(); }
  int bits() const { return bits_; }
  bool has_header() const { return start_ > 0; }
  /// "; read as 16-bit ids, as …" for a refused id; "" where the header states the width.
  std::string width_told() const;
  int64_t count() const { return count_; }
  uint32_t id(int64_t position) const;
  /// All of them. Throws Refusal with the position and id of the first that is not below `vocab_size`.
  std::vector<int32_t> ids(int64_t vocab_size) const;

 private:
  MappedFile file_;
  int bits_;
  size_t start_ = 0;
  int64_t count_ = 0;
};

/// The width of the ids in a file: its header's where it has one; else 32 bits where the vocabulary does not
/// fit into 16, or where the file, read as 16 bits, has a zero in every second place; else 16. Throws Refusal
/// as TokenFile does.
int token_bits(const std::string& path, int64_t vocab_size = 0);

using TakeId = std::function<void(int32_t)>;

/// Writes the ids that `give` hands on, one after the other and without a header, in constant memory; returns
/// how many. Throws Refusal where one does not fit into `bits`, with its position; then there is no file.
int64_t write_token_file(const std::string& path, int bits, const std::function<void(const TakeId&)>& give);
/// The same of ids that are there already: writes ids without a header. Throws Refusal where one does not fit
/// into `bits`, with its position.
void write_token_file(const std::string& path, std::span<const int32_t> ids, int bits);

}  // namespace tril
