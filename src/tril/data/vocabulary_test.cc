#include "tril/data/vocabulary.h"

#include <gtest/gtest.h>

namespace tril {
namespace {

using Words = std::vector<std::string>;

struct Counted {
  WordTable table;
  std::vector<int64_t> counts;

  explicit Counted(const Words& text) {
    for (const std::string& word : text) {
      const auto number = static_cast<size_t>(table.number_of(word));
      counts.resize(table.size());
      ++counts[number];
    }
  }
};

TEST(Vocabulary, WordsAreNumberedAsTheyCome) {
  const Counted text({"b", "a", "b", "", "a", "b"});
  EXPECT_EQ(text.table.size(), 3u);
  EXPECT_EQ(text.table.word(0), "b");
  EXPECT_EQ(text.table.word(2), "");
  EXPECT_EQ(text.counts, (std::vector<int64_t>{3, 2, 1}));
}

TEST(Vocabulary, ManyWordsKeepTheirNumbers) {
  WordTable table;
  for (int round = 0; round < 2; ++round) {
    for (int i = 0; i < 20000; ++i) ASSERT_EQ(table.number_of(std::to_string(i)), i);
  }
  EXPECT_EQ(table.size(), 20000u);
  EXPECT_EQ(table.word(12345), "12345");
}

TEST(Vocabulary, OrderIsByFallingCountThenByBytes) {
  const Counted text({"z", "z", "é", "é", "b", "b", "a", "a", "a", "once"});
  const auto choice = choose_vocabulary(text.table, text.counts, 2, 0);
  EXPECT_EQ(choice.words, (Words{"a", "b", "z", "é"}));  // é is 0xC3 0xA9, behind every ASCII letter
  EXPECT_EQ(choice.candidates, 4);
}

TEST(Vocabulary, CapCutsTheRarest) {
  const Counted text({"a", "a", "b", "b", "b", "c", "c"});
  const auto choice = choose_vocabulary(text.table, text.counts, 1, 2);
  EXPECT_EQ(choice.words, (Words{"b", "a"}));
  EXPECT_EQ(choice.candidates, 3);
  EXPECT_EQ(choose_vocabulary(text.table, text.counts, 1, 99).words.size(), 3u);
  EXPECT_TRUE(choose_vocabulary(text.table, text.counts, 4, 0).words.empty());
}

}  // namespace
}  // namespace tril
