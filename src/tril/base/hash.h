// SHA-256, by libcrypto: of bytes in memory, or of bytes as they come.
#pragma once
#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace tril {

using Digest = std::array<uint8_t, 32>;

Digest sha256(std::string_view bytes);
/// 64 lower-case hex digits.
std::string to_hex(const Digest& digest);
std::string sha256_hex(std::string_view bytes);

/// SHA-256 of a stream: add() the pieces in order, then digest() once; so_far() at any time before.
class Sha256 {
 public:
  Sha256();
  ~Sha256();
  Sha256(Sha256&&) noexcept;
  Sha256& operator=(Sha256&&) noexcept;
  void add(std::string_view bytes);
  Digest digest();
  /// That of what was added until now; more may follow.
  Digest so_far() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace tril
