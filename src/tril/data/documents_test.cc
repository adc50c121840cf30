#include "tril/data/documents.h"

#include <gtest/gtest.h>

namespace tril {
namespace {

using Texts = std::vector<std::string_view>;

Documents cut(std::string_view text, const std::string& rule) {
  Source source;
  source.pieces = {text};
  return cut_documents(source, rule);
}

TEST(Documents, SeparatorsAreFoundWhereverTheyStand) {
  const auto found =
      cut("One.<|endoftext|>Two.\n<|endoftext|>\n\n<|endoftext|><|endoftext|>Three. <|endoftext|> Four.\r\n"
          "<|endoftext|>\r\nFive.\n\n\n\nSix.<|endoftext|>",
          "separator");
  EXPECT_EQ(found.texts, (Texts{"One.", "Two.", "Three.", "Four.", "Five.\n\n\n\nSix."}));
  EXPECT_EQ(found.empty, 2);  // what follows the last separator is no document
  EXPECT_EQ(cut("a<|endoftext|", "separator").texts, Texts{"a<|endoftext|"});
}

TEST(Documents, BlankLinesAreLinesOfWhiteSpaceAlone) {
  const auto found = cut("One a.\n\nTwo b.\n \nThree c.\n\t\nFour d.\r\n\r\nFive e.", "blank-line");
  EXPECT_EQ(found.texts, (Texts{"One a.", "Two b.", "Three c.", "Four d.", "Five e."}));
  EXPECT_EQ(cut("a\nb\n\n\n\nc\n", "blank-line").texts, (Texts{"a\nb", "c"}));
  EXPECT_EQ(cut("\n\n a\r\r\rb", "blank-line").texts, (Texts{"a", "b"}));  // lone CR ends a line
}

TEST(Documents, LinesEndWithLfCrLfOrCr) {
  const auto found = cut("a\nb\r\nc\rd\n\n e \n", "line");
  EXPECT_EQ(found.texts, (Texts{"a", "b", "c", "d", "e"}));
  EXPECT_EQ(found.empty, 1);
}

TEST(Documents, AListIsToldByItsShortLines) {
  std::string names, verse = "A line of verse is longer than any name in a list.\n";
  for (int i = 0; i < 60; ++i) names += "anna\r\n";
  EXPECT_EQ(list_lines(names), 60);
  EXPECT_EQ(list_lines(names + "\n\n"), 60);
  EXPECT_EQ(list_lines(names.substr(0, 49 * 6)), 0);
  EXPECT_EQ(list_lines(names + verse), 0);
  EXPECT_EQ(list_lines(names + "\n" + names), 0);
  EXPECT_EQ(list_lines(""), 0);
}

TEST(Documents, WholeIsUntouched) {
  EXPECT_EQ(cut(" a\n\n", "whole").texts, Texts{" a\n\n"});
  EXPECT_EQ(cut(" \n", "whole").texts, Texts{" \n"});  // characters to a char model
  EXPECT_EQ(cut("", "whole").empty, 1);
  EXPECT_TRUE(cut("", "line").texts.empty());
}

TEST(Documents, AutomaticRule) {
  Source source;
  source.pieces = {"a\n\nb"};
  EXPECT_EQ(document_rule("auto", source, true), "blank-line");
  EXPECT_EQ(document_rule("auto", source, false), "whole");
  EXPECT_EQ(document_rule("line", source, true), "line");
  source.pieces.push_back("x<|endoftext|>y");  // one file of a folder has it
  EXPECT_EQ(document_rule("auto", source, false), "separator");
  source.records = true;
  EXPECT_EQ(document_rule("auto", source, true), "whole");
}

}  // namespace
}  // namespace tril
