// Which part a document belongs to: decided by its own text alone, so that adding or removing other documents
// never moves it from training to test.
//   id    the first 16 hex digits of SHA-256(normalized text)
//   part  u = the first 8 bytes, big-endian, of SHA-256("31415\0" + normalized text), over 2^64:
//         u < 0.8 train, u < 0.9 validation, else test
// It leaves out near duplicates: texts that differ in one word are two documents.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_set>

#include "tril/base/hash.h"

namespace tril {

enum class Part { kTrain = 0, kValidation = 1, kTest = 2 };
inline constexpr int kParts = 3;
/// "train", "validation", "test".
std::string_view part_name(Part part);

/// Where a document goes. `normalized` is its normalized text (text/normalize.h).
Part part_of(std::string_view normalized);

/// The id of a document as a number: 8 bytes, big-endian, so that ids sort as their hex digits do.
uint64_t document_id(const Digest& digest);
/// 16 hex digits.
std::string document_id_hex(uint64_t id);

/// Remembers the documents seen.
class Duplicates {
 public:
  /// True where the digest was given before.
  bool seen(const Digest& digest) { return !digests_.insert(digest).second; }

 private:
  struct FirstBytes {
    size_t operator()(const Digest& digest) const { return static_cast<size_t>(document_id(digest)); }
  };
  std::unordered_set<Digest, FirstBytes> digests_;
};

}  // namespace tril
