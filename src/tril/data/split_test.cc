#include "tril/data/split.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

namespace tril {
namespace {

// The hashes are sha256sum's: printf 'one' | sha256sum, printf '31415\000one' | sha256sum.
TEST(Split, IdIsTheHashsFirstSixteenDigits) {
  EXPECT_EQ(document_id_hex(document_id(sha256("one"))), "7692c3ad3540bb80");
  EXPECT_EQ(document_id_hex(document_id(sha256(""))), "e3b0c44298fc1c14");
}

TEST(Split, PartIsDecidedByTheSaltedHash) {
  EXPECT_EQ(part_of("one"), Part::kTrain);      // b8ed1398163a45d2 = 0.722
  EXPECT_EQ(part_of("two"), Part::kTrain);      // 68e03576c1d97a84 = 0.410
  EXPECT_EQ(part_of("three"), Part::kTrain);    // 50881998b6c3f7f2 = 0.315
  EXPECT_EQ(part_of("four"), Part::kTrain);     // 8fd6f41b8f2ef05d = 0.562
  EXPECT_EQ(part_of("five"), Part::kTrain);     // 5262ff3bcc7545b4 = 0.322
  EXPECT_EQ(part_of("six"), Part::kTrain);      // 8ca88509a94b1ed2 = 0.549
  EXPECT_EQ(part_of("seven"), Part::kTrain);    // 396ff09e206cadc2 = 0.224
  EXPECT_EQ(part_of("2"), Part::kTest);         // edd7a00ea9afe42c = 0.929
  EXPECT_EQ(part_of("4"), Part::kTest);         // f0ec2787865e400b = 0.941
  EXPECT_EQ(part_of("22"), Part::kTest);        // f4f040f683aeb3fc = 0.957
  EXPECT_EQ(part_of("68"), Part::kValidation);  // cfd6cf41e21f761c = 0.812
  EXPECT_EQ(part_of("77"), Part::kValidation);  // e2270e10da183e9e = 0.883
  EXPECT_EQ(part_of("81"), Part::kValidation);  // e26d3d0261173851 = 0.884
  EXPECT_EQ(part_of("eight"), Part::kTrain);    // b36a1e642e91e746 = 0.701
}

TEST(Split, PartsAreInProportion) {
  int counts[kParts] = {};
  for (int i = 0; i < 20000; ++i) ++counts[static_cast<int>(part_of(fmt::format("document {}", i)))];
  EXPECT_NEAR(counts[0], 16000, 250);  // 4.4 standard deviations
  EXPECT_NEAR(counts[1], 2000, 190);
  EXPECT_NEAR(counts[2], 2000, 190);
}

TEST(Split, DuplicatesAreKnownByTheirDigest) {
  Duplicates duplicates;
  EXPECT_FALSE(duplicates.seen(sha256("a")));
  EXPECT_FALSE(duplicates.seen(sha256("b")));
  EXPECT_TRUE(duplicates.seen(sha256("a")));
}

}  // namespace
}  // namespace tril
