#include "tril/data/audit.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace tril {
namespace {

Tokens part(std::vector<int32_t> ids, std::vector<int64_t> starts, std::vector<uint64_t> document_ids) {
  Tokens tokens;
  tokens.content = static_cast<int64_t>(ids.size()) - 2 * (static_cast<int64_t>(starts.size()) - 1);
  tokens.ids = std::move(ids);
  tokens.starts = std::move(starts);
  tokens.document_ids = std::move(document_ids);
  return tokens;
}

TEST(Audit, CountsEachPart) {
  const std::array<Tokens, kParts> parts = {part({1, 4, 3, 2, 1, 3, 2}, {0, 4, 7}, {10, 20}),
                                            part({1, 5, 2}, {0, 3}, {30}), Tokens{}};
  Audit audit;
  count_parts(parts, 3, true, {2, 1, 1}, audit);
  EXPECT_EQ(audit.parts[0].documents, 2);
  EXPECT_EQ(audit.parts[0].tokens, 3);
  EXPECT_EQ(audit.parts[0].targets, 5);
  EXPECT_EQ(audit.parts[0].unknown, 2);
  EXPECT_EQ(audit.parts[2].targets, 0);
  EXPECT_EQ(audit.overlap, 0);
  EXPECT_EQ(audit.lengths.shortest, 1);
  EXPECT_EQ(audit.lengths.median, 1);
  EXPECT_EQ(audit.lengths.longest, 2);

  const auto json = audit_json(audit);
  EXPECT_DOUBLE_EQ(json["unknown_rate"]["train"].get<double>(), 2.0 / 3.0);
  EXPECT_EQ(json["unknown_rate"]["validation"], 0.0);
  EXPECT_TRUE(json["unknown_rate"]["test"].is_null());  // of no tokens there is no rate
  EXPECT_EQ(json["documents"]["train"], 2);
}

TEST(Audit, StreamsHaveOneTargetLessThanIds) {
  const std::array<Tokens, kParts> parts = {part({0, 1, 2, 0}, {0, 2, 4}, {}), Tokens{}, Tokens{}};
  Audit audit;
  count_parts(parts, -1, false, {}, audit);
  EXPECT_EQ(audit.parts[0].targets, 3);
  EXPECT_EQ(audit.parts[1].targets, 0);
  EXPECT_EQ(audit.parts[0].unknown, 0);
}

TEST(Audit, OverlapIsCountedFromTheDocuments) {
  const std::array<Tokens, kParts> parts = {part({1, 2, 1, 2}, {0, 2, 4}, {10, 20}),
                                            part({1, 2}, {0, 2}, {20}),
                                            part({1, 2, 1, 2}, {0, 2, 4}, {10, 30})};
  Audit audit;
  count_parts(parts, 3, true, {}, audit);
  EXPECT_EQ(audit.overlap, 2);
}

TEST(Audit, MedianOfAnEvenNumberIsTheMean) {
  Audit audit;
  count_parts({}, 3, true, {9, 1, 4, 2}, audit);
  EXPECT_EQ(audit.lengths.median, 3);
}

TEST(Audit, TextAndJsonTellTheSame) {
  Audit audit;
  audit.documents_rule = "line";
  audit.split = "hash";
  audit.tokenizer = "word";
  audit.vocab_size = 1500;
  audit.distinct_words = 2159;
  audit.uncovered["_"] = 1234;
  audit.encoding.crlf = 7;
  const std::string text = audit_text(audit);
  for (const char* part : {"documents by line, split by hash, word tokens",
                           "1,500 ids, from 2,159 distinct words", "'_' 1,234 times", "7 CR LF line ends"}) {
    EXPECT_NE(text.find(part), std::string::npos) << text;
  }
  const auto json = audit_json(audit);
  EXPECT_EQ(json["uncovered_characters"][0]["code_point"], "U+005F");
  EXPECT_EQ(json["encoding"]["crlf"], 7);
}

}  // namespace
}  // namespace tril
