#include "tril/base/hash.h"

#include <openssl/evp.h>
#include <openssl/sha.h>

#include <new>

#include "tril/base/hex.h"

namespace tril {
namespace {

/// libcrypto fails where it gets no memory, and then only.
void must(bool done) {
  if (!done) throw std::bad_alloc();
}

}  // namespace

Digest sha256(std::string_view bytes) {
  Digest digest;
  const auto* data = reinterpret_cast<const unsigned char*>(bytes.data());
  must(SHA256(data, bytes.size(), digest.data()) != nullptr);
  return digest;
}

std::string to_hex(const Digest& digest) {
  return to_hex({reinterpret_cast<const char*>(digest.data()), digest.size()});
}

std::string sha256_hex(std::string_view bytes) {
  return to_hex(sha256(bytes));
}

struct Sha256::State {
  EVP_MD_CTX* context = EVP_MD_CTX_new();
  ~State() { EVP_MD_CTX_free(context); }
};

Sha256::Sha256() : state_(std::make_unique<State>()) {
  must(state_->context != nullptr && EVP_DigestInit_ex(state_->context, EVP_sha256(), nullptr) == 1);
}
Sha256::~Sha256() = default;
Sha256::Sha256(Sha256&&) noexcept = default;
Sha256& Sha256::operator=(Sha256&&) noexcept = default;

void Sha256::add(std::string_view bytes) {
  must(EVP_DigestUpdate(state_->context, bytes.data(), bytes.size()) == 1);
}

Digest Sha256::digest() {
  Digest digest;
  must(EVP_DigestFinal_ex(state_->context, digest.data(), nullptr) == 1);
  return digest;
}

Digest Sha256::so_far() const {
  Sha256 copy;
  must(EVP_MD_CTX_copy_ex(copy.state_->context, state_->context) == 1);
  return copy.digest();
}

}  // namespace tril
