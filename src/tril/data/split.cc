#include "tril/data/split.h"

#include <fmt/core.h>

#include <cmath>

namespace tril {
namespace {

uint64_t first_eight(const Digest& digest) {
  uint64_t value = 0;
  for (int i = 0; i < 8; ++i) value = value << 8 | digest[static_cast<size_t>(i)];
  return value;
}

}  // namespace

std::string_view part_name(Part part) {
  static constexpr std::string_view kNames[kParts] = {"train", "validation", "test"};
  return kNames[static_cast<size_t>(part)];
}

Part part_of(std::string_view normalized) {
  constexpr std::string_view kSalt("31415\0", 6);
  std::string salted(kSalt);
  salted += normalized;
  const double u = std::ldexp(static_cast<double>(first_eight(sha256(salted))), -64);
  return u < 0.8 ? Part::kTrain : u < 0.9 ? Part::kValidation : Part::kTest;
}

uint64_t document_id(const Digest& digest) {
  return first_eight(digest);
}

std::string document_id_hex(uint64_t id) {
  return fmt::format("{:016x}", id);
}

}  // namespace tril
