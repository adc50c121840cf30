// MT19937 against the authors' published outputs and the standard library's engine.
#include "tril/tensor/mt19937.h"

#include <gtest/gtest.h>

#include <random>

#include "tril/base/error.h"

namespace tril {
namespace {

TEST(Mt19937Test, TenThousandthWordOfTheDefaultSeed) {
  Mt19937 words(5489);
  for (int i = 1; i < 10'000; ++i) words.next();
  EXPECT_EQ(words.next(), 4123659995u);  // fixed by the C++ standard, [rand.predef]
}

TEST(Mt19937Test, AuthorsArraySeed) {
  // The first words of mt19937ar.out, whose key is 0x123, 0x234, 0x345, 0x456.
  const std::array<uint32_t, 4> key{0x123, 0x234, 0x345, 0x456};
  Mt19937 words(0);
  words.seed_array(key);
  for (uint32_t expected : {1067595299u, 955945823u, 477289528u, 4107218783u, 4228976476u}) {
    EXPECT_EQ(words.next(), expected);
  }
}

TEST(Mt19937Test, EqualsTheStandardEngine) {
  for (uint32_t seed : {0u, 1u, 31u, 0xffffffffu}) {
    Mt19937 words(seed);
    std::mt19937 standard(seed);
    for (int i = 0; i < 2'000; ++i) ASSERT_EQ(words.next(), standard()) << seed << " " << i;
  }
}

TEST(Mt19937Test, SavedStateGoesOnTheSame) {
  for (int taken : {0, 1, 623, 624, 625, 1300}) {
    Mt19937 words(9);
    for (int i = 0; i < taken; ++i) words.next();
    const std::string bytes = save_generator("test0001", words, 0.25);
    EXPECT_EQ(bytes.size(), 8u + 4 + 4 * 624 + 1 + 8);
    Mt19937 other(1);
    std::optional<double> kept;
    load_generator("test0001", bytes, other, kept);
    EXPECT_EQ(kept, 0.25);
    for (int i = 0; i < 700; ++i) ASSERT_EQ(other.next(), words.next()) << taken;
  }
}

TEST(Mt19937Test, DamagedStatesAreRefusedAndChangeNothing) {
  const std::string good = save_generator("test0001", Mt19937(9), std::nullopt);
  std::vector<std::string> bad{"", good.substr(0, good.size() - 1), good + "x", "TEST" + good.substr(4)};
  bad.push_back(good);
  bad.back()[8] = '\xff';  // position 0x2ff: above 624
  bad.push_back(good);
  bad.back()[good.size() - 9] = 2;  // neither "none kept" nor "one kept"
  bad.push_back(good.substr(0, 12) + std::string(4 * 624 + 9, '\0'));
  for (const std::string& bytes : bad) {
    Mt19937 words(5);
    std::optional<double> kept = 1.0;
    EXPECT_THROW(load_generator("test0001", bytes, words, kept), Refusal);
    EXPECT_EQ(words, Mt19937(5));
    EXPECT_EQ(kept, 1.0);
  }
}

}  // namespace
}  // namespace tril
