#include "tril/formats/zip.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include <cstring>

#include "tril/base/error.h"
#include "tril/base/error_testing.h"
#include "tril/base/file.h"
#include "tril/base/folder_testing.h"

namespace tril {
namespace {
using testing::HasSubstr;

std::string packed_by_zlib(std::string_view bytes) {
  z_stream stream{};
  EXPECT_EQ(deflateInit2(&stream, 9, Z_DEFLATED, -MAX_WBITS, 9, Z_DEFAULT_STRATEGY), Z_OK);
  std::string out(deflateBound(&stream, bytes.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

ZipMember deflated(std::string_view packed, std::string_view content, uint64_t claimed) {
  const auto crc =
      crc32(0, reinterpret_cast<const Bytef*>(content.data()), static_cast<uInt>(content.size()));
  return {"m", true, static_cast<uint32_t>(crc), claimed, packed};
}

std::string refusal_of_unpack(const ZipMember& member) {
  std::string room;
  try {
    unpack(member, room, "f");
  } catch (const Refusal& refusal) {
    EXPECT_LT(room.size(), 1u << 20);
    return refusal.what();
  }
  return "";
}

TEST(Zip, UnpacksWhatZlibPacked) {
  std::string content(300000, 'a');
  for (size_t i = 0; i < content.size(); i += 7) content[i] = static_cast<char>(i * i);
  const std::string packed = packed_by_zlib(content);
  std::string room;
  EXPECT_EQ(unpack(deflated(packed, content, content.size()), room, "f"), content);
  const std::string nothing = packed_by_zlib("");
  EXPECT_EQ(unpack(deflated(nothing, "", 0), room, "f"), "");
}

// 10 MB of zeros in 10 kB, said to be 10 bytes, or 2^60: memory stays small.
TEST(Zip, LyingSizesTakeNoMemory) {
  const std::string zeros(10'000'000, '\0');
  const std::string bomb = packed_by_zlib(zeros);
  EXPECT_THAT(refusal_of_unpack(deflated(bomb, "", 10)), HasSubstr("or more, the directory says 10"));
  const std::string small = packed_by_zlib("abc");
  EXPECT_THAT(refusal_of_unpack(deflated(small, "abc", uint64_t{1} << 60)), HasSubstr("unpacks to 3 bytes"));
  EXPECT_THAT(refusal_of_unpack(deflated(small.substr(0, 2), "abc", 3)), HasSubstr("broken"));
  EXPECT_THAT(refusal_of_unpack(deflated("\xff\xff\xff", "abc", 3)), HasSubstr("broken"));
  EXPECT_THAT(refusal_of_unpack(deflated(small, "abd", 3)), HasSubstr("CRC-32"));
}

TEST(Zip, WrittenMembersAreFoundAgain) {
  const TestFolder folder("zip");
  const std::string path = folder.at("archive");
  write_file_atomically(path, [](FileWriter& file) {
    ZipWriter zip(file);
    zip.add("é.txt", {"ab", "", "c"});
    zip.add("none", {});
    zip.finish();
  });
  const std::string bytes = read_file(path);
  const std::vector<ZipMember> members = read_zip(bytes, path);
  ASSERT_EQ(members.size(), 2u);
  std::string room;
  EXPECT_EQ(members[0].name, "é.txt");
  EXPECT_EQ(unpack(members[0], room, path), "abc");
  EXPECT_EQ(unpack(members[1], room, path), "");
}

// Two entries of the directory that name one place: what they unpack to is not paid for by the file's bytes.
TEST(Zip, MembersOverOneAnotherAreRefused) {
  const TestFolder folder("zip");
  const std::string path = folder.at("archive");
  write_file_atomically(path, [](FileWriter& file) {
    ZipWriter zip(file);
    zip.add("a", {"same"});
    zip.add("b", {"same"});
    zip.finish();
  });
  std::string bytes = read_file(path);
  EXPECT_EQ(read_zip(bytes, path).size(), 2u);
  const size_t first = bytes.find("PK\1\2"), second = bytes.find("PK\1\2", first + 4);
  bytes.replace(second + 42, 4, std::string(4, '\0'));
  EXPECT_EQ(refusal_of([&] { read_zip(bytes, path); }), path + ": members 'a' and 'b' lie over one another");
}

}  // namespace
}  // namespace tril
