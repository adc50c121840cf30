#include "tril/base/table.h"

#include <gtest/gtest.h>

namespace tril {
namespace {

TEST(Table, AlignsWordsLeftAndNumbersRight) {
  Table table({"name", "parameters", "note"});
  table.row({"one", "4,192", "a"});
  table.row({"gpt2-124m", "124,439,808"});
  EXPECT_EQ(table.text(),
            "name        parameters  note\n"
            "one              4,192  a\n"
            "gpt2-124m  124,439,808\n");
}

TEST(Table, InfinitiesAreNumbers) {
  Table table({"t", "x"});
  table.row({"a", "1.500"});
  table.row({"b", "-inf"});
  EXPECT_EQ(table.text(), "t      x\na  1.500\nb   -inf\n");
}

TEST(Table, WidthsCountCodePoints) {
  Table table({"x", "y"});
  table.row({"é", "b"});
  table.row({"ab", "c"});
  EXPECT_EQ(table.text(), "x   y\né   b\nab  c\n");
}

TEST(Table, Commas) {
  EXPECT_EQ(with_commas(0), "0");
  EXPECT_EQ(with_commas(999), "999");
  EXPECT_EQ(with_commas(-1000), "-1,000");
  EXPECT_EQ(with_commas(124439808), "124,439,808");
}

}  // namespace
}  // namespace tril
