#include "tril/formats/token_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <cstring>

#include "tril/base/error.h"
#include "tril/base/sniff.h"

namespace tril {
namespace {
constexpr uint32_t kMagic = 20240520;  // llm.c's
constexpr size_t kHeaderBytes = 1024;
constexpr uint32_t kVersion16 = 1, kVersion32 = 7;

uint32_t word(std::string_view bytes, size_t at) {
  uint32_t value;
  std::memcpy(&value, bytes.data() + at, sizeof value);
  return value;
}
}  // namespace

TokenFile::TokenFile(const std::string& path, int bits) : file_(path), bits_(bits) {
  assert(bits == 16 || bits == 32);
  const std::string_view bytes = file_.bytes();
  if (bytes.empty()) refuse("{}: is empty; a file of token ids is needed", path);
  if (bytes.size() >= 4 && word(bytes, 0) == kMagic) {
    if (bytes.size() < kHeaderBytes)
      refuse("{}: has {} bytes; its header alone has {}", path, bytes.size(), kHeaderBytes);
    const uint32_t version = word(bytes, 4);
    if (version != kVersion16 && version != kVersion32) {
      refuse("{}: is of llm.c's version {}; {} (16 bits) and {} (32 bits) are known", path, version,
             kVersion16, kVersion32);
    }
    bits_ = version == kVersion16 ? 16 : 32;
    start_ = kHeaderBytes;
  } else if (const auto seen = sniff(bytes.substr(0, kSniffBytes), bytes.size());
             seen && seen->kind != FileKind::kBinary && seen->kind != FileKind::kUtf16 &&
             seen->kind != FileKind::kUtf32) {
    refuse("{}: looks like {}, a file of token ids is needed", path, seen->name);
  }
  const auto size = static_cast<size_t>(bits_ / 8), held = bytes.size() - start_;
  if (held % size != 0) refuse("{}: {} bytes are no whole number of ids of {} bytes", path, held, size);
  count_ = static_cast<int64_t>(held / size);
  if (start_ > 0 && word(bytes, 8) != static_cast<uint64_t>(count_))
    refuse("{}: its header claims {} tokens, the file holds {}", path, word(bytes, 8), count_);
}

uint32_t TokenFile::id(int64_t position) const {
  const char* at =
      file_.bytes().data() + start_ + static_cast<size_t>(position) * static_cast<size_t>(bits_ / 8);
  if (bits_ == 32) {
    uint32_t id;
    std::memcpy(&id, at, sizeof id);
    return id;
  }
  uint16_t id;
  std::memcpy(&id, at, sizeof id);
  return id;
}

// Of a file without a header the width was worked out, and an id may be wrong because the width is.
std::string TokenFile::width_told() const {
  if (has_header()) return "";
  if (bits_ == 32) return "; read as 32-bit ids";
  int64_t high = 0;  // 16-bit words that are the upper half of a small 32-bit id
  for (int64_t i = 1; i < count_; i += 2) high += id(i) == 0 ? 1 : 0;
  return fmt::format(
      "; read as 16-bit ids, as the file has no header and not every second 16-bit word is 0 ({} of {} are)",
      high, count_ / 2);
}

std::vector<int32_t> TokenFile::ids(int64_t vocab_size) const {
  std::vector<int32_t> all(static_cast<size_t>(count_));
  for (int64_t i = 0; i < count_; ++i) {
    const uint32_t found = id(i);
    if (found >= static_cast<uint64_t>(vocab_size))
      refuse("{}: position {}: id {} is outside the vocabulary of {}{}", path(), i, found, vocab_size,
             width_told());
    all[static_cast<size_t>(i)] = static_cast<int32_t>(found);
  }
  return all;
}

int token_bits(const std::string& path, int64_t vocab_size) {
  const TokenFile narrow(path, 16);
  if (narrow.has_header()) return narrow.bits();
  if (vocab_size > 1 << 16) return 32;
  if (narrow.count() < 2 || narrow.count() % 2 != 0) return 16;
  for (int64_t i = 1; i < narrow.count(); i += 2)
    if (narrow.id(i) != 0) return 16;
  return 32;
}

int64_t write_token_file(const std::string& path, int bits, const std::function<void(const TakeId&)>& give) {
  assert(bits == 16 || bits == 32);
  constexpr size_t kBuffer = size_t{1} << 16;
  int64_t count = 0;
  write_file_atomically(path, [&](FileWriter& file) {
    std::string buffer;
    give([&](int32_t id) {
      if (bits == 16 && id > 0xffff)
        refuse("{}: position {}: id {} does not fit into 16 bits; write 32", path, count, id);
      const auto narrow = static_cast<uint16_t>(id);
      buffer.append(bits == 16 ? reinterpret_cast<const char*>(&narrow) : reinterpret_cast<const char*>(&id),
                    static_cast<size_t>(bits / 8));
      ++count;
      if (buffer.size() < kBuffer) return;
      file.write(buffer);
      buffer.clear();
    });
    file.write(buffer);
  });
  return count;
}

void write_token_file(const std::string& path, std::span<const int32_t> ids, int bits) {
  write_token_file(path, bits, [&](const TakeId& take) { std::for_each(ids.begin(), ids.end(), take); });
}

}  // namespace tril
