#include "tril/text/tokenizer.h"

#include "tril/base/error.h"
#include "tril/base/hash.h"

namespace tril {

std::string Tokenizer::fingerprint() const {
  return sha256_hex(to_json());
}

void Tokenizer::require_id(int32_t id, int64_t position) const {
  if (id < 0 || id >= vocab_size()) {
    refuse("position {}: id {} is outside the vocabulary of {} ids (0 to {})", position, id, vocab_size(),
           vocab_size() - 1);
  }
}

}  // namespace tril
