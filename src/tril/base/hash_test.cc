#include "tril/base/hash.h"

#include <gtest/gtest.h>

namespace tril {
namespace {

// FIPS 180-4's own examples.
TEST(Hash, KnownDigests) {
  EXPECT_EQ(sha256_hex("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(sha256_hex(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
}

TEST(Hash, AStreamTellsItsDigestAtAnyTime) {
  Sha256 stream;
  EXPECT_EQ(to_hex(stream.so_far()), sha256_hex(""));
  stream.add("ab");
  EXPECT_EQ(to_hex(stream.so_far()), sha256_hex("ab"));
  stream.add("c");
  EXPECT_EQ(to_hex(stream.so_far()), sha256_hex("abc"));
  EXPECT_EQ(to_hex(stream.digest()), sha256_hex("abc"));
}

}  // namespace
}  // namespace tril
