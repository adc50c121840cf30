// The part of the zip format that .npz files use: a directory of members, stored or deflated, with CRC-32.
// What it leaves out: encryption, archives in parts, other packings, and writing members beyond 4 GiB.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tril/base/file.h"

namespace tril {

struct ZipMember {
  std::string name;
  bool deflated = false;
  uint32_t crc = 0;
  uint64_t size = 0;        // unpacked
  std::string_view packed;  // as it lies in the archive
};

/// Reads the directory and checks that every member lies within the archive. Throws Refusal.
std::vector<ZipMember> read_zip(std::string_view bytes, const std::string& path);

/// The member's bytes, checked against size and CRC-32: a view of the archive where it is stored, else
/// unpacked into `room`. Memory grows with what is unpacked, not with what the directory claims. Throws
/// Refusal.
std::string_view unpack(const ZipMember& member, std::string& room, const std::string& path);

/// Writes stored members one after the other, all dated 1980-01-01.
class ZipWriter {
 public:
  explicit ZipWriter(FileWriter& file) : file_(file) {}
  /// `parts` are the member's bytes, in order. Throws Refusal where the archive would reach 4 GiB.
  void add(const std::string& name, std::initializer_list<std::string_view> parts);
  /// Writes the directory. Must be called once, last.
  void finish();

 private:
  FileWriter& file_;
  std::string directory_;
  uint64_t at_ = 0;
  uint16_t members_ = 0;
};

}  // namespace tril
