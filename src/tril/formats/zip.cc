#include "tril/formats/zip.h"

#include <zlib.h>

#include <algorithm>
#include <cstring>

#include "tril/base/error.h"
#include "tril/base/quote.h"

namespace tril {
namespace {
constexpr uint32_t kLocalMark = 0x04034b50, kDirectoryMark = 0x02014b50, kEndMark = 0x06054b50;
constexpr uint32_t kEnd64Mark = 0x06064b50, kLocator64Mark = 0x07064b50;
constexpr size_t kLocalSize = 30, kDirectorySize = 46, kEndSize = 22, kEnd64Size = 56, kLocator64Size = 20;
constexpr uint16_t kStored = 0, kDeflated = 8, kFirstDay = 0x21;  // 1980-01-01
constexpr uint64_t kLimit = 0xffffffff;

template <class T>
T number(std::string_view bytes, size_t at) {
  T value;
  std::memcpy(&value, bytes.data() + at, sizeof value);
  return value;
}

template <class T>
void append(std::string& bytes, T value) {
  bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
}

struct Directory {
  uint64_t begin = 0, size = 0, members = 0;
};

/// Finds the record at the archive's end, which a comment of up to 65,535 bytes may follow.
Directory find_directory(std::string_view bytes, const std::string& path) {
  if (bytes.size() < kEndSize) refuse("{}: is too short for a zip archive ({} bytes)", path, bytes.size());
  const size_t last = bytes.size() - kEndSize, first = last - std::min<size_t>(last, 65535);
  size_t at = last + 1;
  while (at-- > first) {
    if (number<uint32_t>(bytes, at) == kEndMark &&
        at + kEndSize + number<uint16_t>(bytes, at + 20) == bytes.size()) {
      break;
    }
    if (at == first) refuse("{}: the zip archive's end is missing: it is cut (a broken download?)", path);
  }
  Directory found{number<uint32_t>(bytes, at + 16), number<uint32_t>(bytes, at + 12),
                  number<uint16_t>(bytes, at + 10)};
  if (found.begin == kLimit || found.size == kLimit ||
      found.members == 0xffff) {  // zip64: a larger record before it
    if (at < kLocator64Size || number<uint32_t>(bytes, at - kLocator64Size) != kLocator64Mark) {
      refuse("{}: the zip archive's 64-bit directory is missing", path);
    }
    const auto large = number<uint64_t>(bytes, at - kLocator64Size + 8);
    if (large > at || at - large < kEnd64Size || number<uint32_t>(bytes, large) != kEnd64Mark) {
      refuse("{}: the zip archive's 64-bit directory is broken", path);
    }
    found = {number<uint64_t>(bytes, large + 48), number<uint64_t>(bytes, large + 40),
             number<uint64_t>(bytes, large + 32)};
  }
  if (found.begin > at || found.size > at - found.begin || found.members > found.size / kDirectorySize) {
    refuse("{}: the zip archive's directory lies beyond the file", path);
  }
  return found;
}

/// Replaces sizes and place that read 0xffffffff by those of the extra field for 64 bits.
void read_zip64(std::string_view extra, uint64_t& size, uint64_t& packed, uint64_t& local) {
  while (extra.size() >= 4) {
    const auto id = number<uint16_t>(extra, 0), length = number<uint16_t>(extra, 2);
    std::string_view field = extra.substr(4, length);
    if (id == 1) {
      for (uint64_t* value : {&size, &packed, &local}) {
        if (*value != kLimit || field.size() < 8) continue;
        *value = number<uint64_t>(field, 0);
        field.remove_prefix(8);
      }
    }
    extra.remove_prefix(std::min<size_t>(extra.size(), 4 + size_t{length}));
  }
}

/// The packed bytes, behind the member's own header.
std::string_view packed_bytes(std::string_view bytes, uint64_t local, uint64_t size,
                              const std::string& where) {
  if (local > bytes.size() || bytes.size() - local < kLocalSize ||
      number<uint32_t>(bytes, local) != kLocalMark) {
    refuse("{}: its header is not where the directory says", where);
  }
  const uint64_t skip =
      kLocalSize + number<uint16_t>(bytes, local + 26) + number<uint16_t>(bytes, local + 28);
  if (skip > bytes.size() - local || size > bytes.size() - local - skip)
    refuse("{}: lies beyond the file", where);
  return bytes.substr(local + skip, size);
}
}  // namespace

namespace {
/// Members over the same packed bytes could unpack to any multiple of what the file's own size allows.
void refuse_overlaps(std::vector<ZipMember> members, const std::string& path) {
  const auto begin = [](const ZipMember& member) { return member.packed.data(); };
  std::sort(members.begin(), members.end(),
            [&](const ZipMember& a, const ZipMember& b) { return begin(a) < begin(b); });
  for (size_t i = 1; i < members.size(); ++i) {
    const ZipMember &before = members[i - 1], &member = members[i];
    if (begin(before) + before.packed.size() > begin(member) - kLocalSize)
      refuse("{}: members {} and {} lie over one another", path, in_quotes(before.name),
             in_quotes(member.name));
  }
}
}  // namespace

std::vector<ZipMember> read_zip(std::string_view bytes, const std::string& path) {
  const Directory directory = find_directory(bytes, path);
  std::string_view rest = bytes.substr(directory.begin, directory.size);
  std::vector<ZipMember> members;
  for (uint64_t i = 0; i < directory.members; ++i) {
    if (rest.size() < kDirectorySize || number<uint32_t>(rest, 0) != kDirectoryMark) {
      refuse("{}: entry {} of the zip archive's directory is broken", path, i + 1);
    }
    const auto flags = number<uint16_t>(rest, 8), method = number<uint16_t>(rest, 10);
    uint64_t packed = number<uint32_t>(rest, 20), size = number<uint32_t>(rest, 24),
             local = number<uint32_t>(rest, 42);
    const size_t name = number<uint16_t>(rest, 28), extra = number<uint16_t>(rest, 30),
                 comment = number<uint16_t>(rest, 32);
    if (rest.size() - kDirectorySize < name + extra + comment) {
      refuse("{}: entry {} of the zip archive's directory is cut", path, i + 1);
    }
    ZipMember member;
    member.name = rest.substr(kDirectorySize, name);
    const std::string where = fmt::format("{}: member {}", path, in_quotes(member.name));
    if ((flags & 1) != 0) refuse("{}: is encrypted", where);
    if (method != kStored && method != kDeflated)
      refuse("{}: is packed in a way (number {}) that tril doesn't read", where, method);
    read_zip64(rest.substr(kDirectorySize + name, extra), size, packed, local);
    member.deflated = method == kDeflated;
    member.crc = number<uint32_t>(rest, 16);
    member.size = size;
    member.packed = packed_bytes(bytes, local, packed, where);
    if (!member.deflated && size != packed)
      refuse("{}: has {} bytes, the directory says {}", where, packed, size);
    members.push_back(std::move(member));
    rest.remove_prefix(kDirectorySize + name + extra + comment);
  }
  refuse_overlaps(members, path);
  return members;
}

namespace {
uint32_t crc_of(uint32_t crc, std::string_view bytes) {
  return static_cast<uint32_t>(crc32_z(crc, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

/// Unpacks until the end of the stream, or until it gives more than the directory says.
void inflate_into(const ZipMember& member, std::string& room, const std::string& where) {
  z_stream stream{};
  if (inflateInit2(&stream, -MAX_WBITS) != Z_OK) throw std::bad_alloc();
  std::string block(1 << 16, '\0');
  std::string_view rest = member.packed;
  int status = Z_OK;
  while (status == Z_OK && room.size() <= member.size) {
    const size_t given = std::min<size_t>(rest.size(), 1 << 30);
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(rest.data()));
    stream.avail_in = static_cast<uInt>(given);
    stream.next_out = reinterpret_cast<Bytef*>(block.data());
    stream.avail_out = static_cast<uInt>(block.size());
    status = inflate(&stream, Z_NO_FLUSH);
    rest.remove_prefix(given - stream.avail_in);
    room.append(block, 0, block.size() - stream.avail_out);
  }
  inflateEnd(&stream);
  if (room.size() > member.size || (status == Z_STREAM_END && room.size() != member.size)) {
    refuse("{}: unpacks to {} bytes or more, the directory says {}", where, room.size(), member.size);
  }
  if (status != Z_STREAM_END) refuse("{}: its packed bytes are broken", where);
}
}  // namespace

std::string_view unpack(const ZipMember& member, std::string& room, const std::string& path) {
  const std::string where = fmt::format("{}: member {}", path, in_quotes(member.name));
  room.clear();
  if (member.deflated) inflate_into(member, room, where);
  const std::string_view bytes = member.deflated ? std::string_view(room) : member.packed;
  if (crc_of(0, bytes) != member.crc) refuse("{}: its CRC-32 does not match: it is damaged", where);
  return bytes;
}

void ZipWriter::add(const std::string& name, std::initializer_list<std::string_view> parts) {
  uint64_t size = 0;
  uint32_t crc = 0;
  for (const std::string_view part : parts) {
    size += part.size();
    crc = crc_of(crc, part);
  }
  const uint64_t end = at_ + kLocalSize + name.size() + size;
  if (end + directory_.size() + kDirectorySize + name.size() + kEndSize >= kLimit || members_ == 0xfffe) {
    refuse("{}: an archive of 4 GiB or of 65,535 members can't be written; choose safetensors",
           in_quotes(name));
  }
  std::string shared;  // what the member's own header and its entry in the directory have in common
  append<uint16_t>(shared, 20);
  append<uint16_t>(shared, 0x0800);  // names are UTF-8
  append<uint16_t>(shared, kStored);
  append<uint16_t>(shared, 0);
  append<uint16_t>(shared, kFirstDay);
  append<uint32_t>(shared, crc);
  append(shared, static_cast<uint32_t>(size));
  append(shared, static_cast<uint32_t>(size));
  append(shared, static_cast<uint16_t>(name.size()));
  append<uint16_t>(shared, 0);
  std::string local;
  append(local, kLocalMark);
  file_.write(local + shared + name);
  for (const std::string_view part : parts) file_.write(part);
  append(directory_, kDirectoryMark);
  append<uint16_t>(directory_, 20);
  directory_ += shared;
  directory_.append(10, '\0');  // no comment, first disk, no attributes
  append(directory_, static_cast<uint32_t>(at_));
  directory_ += name;
  at_ = end;
  ++members_;
}

void ZipWriter::finish() {
  std::string end;
  append(end, kEndMark);
  append<uint32_t>(end, 0);
  append(end, members_);
  append(end, members_);
  append(end, static_cast<uint32_t>(directory_.size()));
  append(end, static_cast<uint32_t>(at_));
  append<uint16_t>(end, 0);
  file_.write(directory_ + end);
}

}  // namespace tril
