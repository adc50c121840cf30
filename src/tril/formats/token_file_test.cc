#include "tril/formats/token_file.h"

#include <gtest/gtest.h>

#include <cstring>

#include "tril/base/error.h"
#include "tril/base/folder_testing.h"

namespace tril {
namespace {

template <class Body>
std::string refusal(const Body& body) {
  try {
    body();
  } catch (const Refusal& refusal) {
    return refusal.what();
  }
  return "";
}

std::string header(uint32_t version, uint32_t count) {
  std::string bytes(1024, '\0');
  const uint32_t words[] = {20240520, version, count};
  std::memcpy(bytes.data(), words, sizeof words);
  return bytes;
}

class TokenFiles : public testing::Test {
 protected:
  std::string file(const std::string& bytes) {
    write_file_atomically(folder_ / "t.bin", bytes);
    return folder_ / "t.bin";
  }
  TemporaryFolder folder_;
};

TEST_F(TokenFiles, AreLittleEndianIds) {
  const std::vector<int32_t> ids = {0, 258, 65535};
  const std::string path = folder_ / "t.bin";
  write_token_file(path, ids, 16);
  EXPECT_EQ(read_file(path), std::string("\0\0\2\1\xff\xff", 6));
  EXPECT_EQ(TokenFile(path, 16).ids(65536), ids);
  write_token_file(path, ids, 32);
  EXPECT_EQ(read_file(path), std::string("\0\0\0\0\2\1\0\0\xff\xff\0\0", 12));
  EXPECT_EQ(TokenFile(path, 32).ids(65536), ids);
  EXPECT_EQ(refusal([&] {
              write_token_file(path, std::vector<int32_t>{1, 65536}, 16);
            }),
            path + ": position 1: id 65536 does not fit into 16 bits; write 32");
}

TEST_F(TokenFiles, IdsThatComeOneByOneAreWrittenInConstantMemory) {
  const std::string path = folder_ / "long.bin";
  const int64_t count = write_token_file(path, 16, [](const TakeId& take) {
    for (int32_t i = 0; i < 100000; ++i) take(i % 50000);
  });
  EXPECT_EQ(count, 100000);
  const TokenFile file(path, 16);
  ASSERT_EQ(file.count(), 100000);
  for (int64_t i = 0; i < 100000; ++i) ASSERT_EQ(file.id(i), i % 50000);
  EXPECT_THROW(write_token_file(path, 16, [](const TakeId& take) { take(70000); }), Refusal);
  EXPECT_EQ(TokenFile(path, 16).count(), 100000);  // the file that was there stays
}

TEST_F(TokenFiles, HeadersTellWidthAndCount) {
  const TokenFile narrow(file(header(1, 2) + std::string("\1\0\2\0", 4)), 32);
  EXPECT_EQ(narrow.bits(), 16);
  EXPECT_TRUE(narrow.has_header());
  EXPECT_EQ(narrow.ids(3), (std::vector<int32_t>{1, 2}));
  EXPECT_EQ(TokenFile(file(header(7, 1) + std::string("\1\0\2\0", 4))).ids(1 << 20),
            (std::vector<int32_t>{131073}));
  const std::string path = folder_ / "t.bin";
  EXPECT_EQ(refusal([&] { TokenFile t(file(header(1, 2147483647) + std::string(64, '\0'))); }),
            path + ": its header claims 2147483647 tokens, the file holds 32");
  EXPECT_EQ(refusal([&] { TokenFile t(file(header(3, 0))); }),
            path + ": is of llm.c's version 3; 1 (16 bits) and 7 (32 bits) are known");
  EXPECT_EQ(refusal([&] { TokenFile t(file(header(1, 0).substr(0, 100))); }),
            path + ": has 100 bytes; its header alone has 1024");
}

// Case 4: an id outside the vocabulary is named with its position.
TEST_F(TokenFiles, RefuseWhatTheyAreNot) {
  const std::string path = folder_ / "t.bin";
  EXPECT_EQ(refusal([&] { TokenFile t(file("abc")); }),
            path + ": 3 bytes are no whole number of ids of 2 bytes");
  EXPECT_EQ(refusal([&] { TokenFile t(file("")); }), path + ": is empty; a file of token ids is needed");
  EXPECT_NE(
      refusal([&] { TokenFile t(file("<!DOCTYPE html><html><body>not found</body></html>")); }).find("HTML"),
      std::string::npos);
  EXPECT_EQ(
      refusal([&] { TokenFile(file(std::string("\1\0\xff\xff", 4))).ids(262); }),
      path +
          ": position 1: id 65535 is outside the vocabulary of 262; read as 16-bit ids, as the file has "
          "no header and not every second 16-bit word is 0 (0 of 1 are)");
  // 5, 70000 and 6 in 32 bits: 70000 is 0x00011170, so its upper half is not 0.
  const std::string wide("\5\0\0\0\x70\x11\1\0\6\0\0\0", 12);
  EXPECT_EQ(token_bits(file(wide), 262), 16);
  EXPECT_TRUE(refusal([&] { TokenFile(file(wide)).ids(262); }).ends_with("(2 of 3 are)"));
  EXPECT_EQ(refusal([&] { TokenFile(file(wide), 32).ids(262); }),
            path + ": position 1: id 70000 is outside the vocabulary of 262; read as 32-bit ids");
}

}  // namespace
}  // namespace tril
