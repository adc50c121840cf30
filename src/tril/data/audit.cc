#include "tril/data/audit.h"

#include <fmt/core.h>

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>

#include "tril/base/table.h"
#include "tril/text/utf8.h"

namespace tril {
namespace {

using Json = nlohmann::json;

LengthAudit lengths_of(std::vector<int64_t> lengths) {
  if (lengths.empty()) return {};
  std::sort(lengths.begin(), lengths.end());
  const size_t n = lengths.size();
  const double median = static_cast<double>(lengths[(n - 1) / 2] + lengths[n / 2]) / 2;
  return {lengths.front(), lengths.back(), median};
}

int64_t overlap_of(const std::array<Tokens, kParts>& parts) {
  std::array<std::vector<uint64_t>, kParts> ids;
  for (size_t p = 0; p < kParts; ++p) {
    ids[p] = parts[p].document_ids;
    std::sort(ids[p].begin(), ids[p].end());
    ids[p].erase(std::unique(ids[p].begin(), ids[p].end()), ids[p].end());
  }
  std::vector<uint64_t> common;
  for (size_t a = 0; a < kParts; ++a) {
    for (size_t b = a + 1; b < kParts; ++b) {
      std::set_intersection(ids[a].begin(), ids[a].end(), ids[b].begin(), ids[b].end(),
                            std::back_inserter(common));
    }
  }
  return static_cast<int64_t>(common.size());
}

Json rate(int64_t count, int64_t of) {
  return of == 0 ? Json() : Json(static_cast<double>(count) / static_cast<double>(of));
}

Json by_part(const Audit& audit, const auto& value) {
  Json object = Json::object();
  for (size_t p = 0; p < kParts; ++p)
    object[std::string(part_name(static_cast<Part>(p)))] = value(audit.parts[p]);
  return object;
}

Json uncovered_json(const Audit& audit) {
  Json list = Json::array();
  for (const auto& [character, count] : audit.uncovered) {
    list.push_back({{"character", character},
                    {"code_point", code_point_name(code_point_at(character, 0).value)},
                    {"count", count}});
  }
  return list;
}

std::string percent(int64_t count, int64_t of) {
  return of == 0 ? "-" : fmt::format("{:.2f}%", 100.0 * static_cast<double>(count) / static_cast<double>(of));
}

std::string encoding_text(const EncodingTrouble& encoding) {
  std::string text;
  const auto add = [&](int64_t count, const char* what) {
    if (count > 0) text += fmt::format("{}{} {}", text.empty() ? "" : ", ", with_commas(count), what);
  };
  add(encoding.byte_order_marks, "byte-order mark dropped");
  add(encoding.crlf, "CR LF line ends");
  add(encoding.lone_cr, "lone CR line ends");
  add(encoding.nul, "NUL bytes");
  add(encoding.replacement, "U+FFFD (left by a program that could not read the text)");
  add(encoding.invalid_utf8, "files with invalid UTF-8");
  return text.empty() ? "no trouble" : text;
}

}  // namespace

void count_parts(const std::array<Tokens, kParts>& parts, int32_t unk, bool by_document,
                 std::vector<int64_t> lengths, Audit& audit) {
  for (size_t p = 0; p < kParts; ++p) {
    const Tokens& part = parts[p];
    const auto ids = static_cast<int64_t>(part.ids.size());
    PartAudit& counts = audit.parts[p];
    counts.documents = part.documents();
    counts.tokens = part.content;
    counts.targets = by_document ? ids - part.documents() : std::max<int64_t>(ids - 1, 0);
    counts.unknown = unk < 0 ? 0 : std::count(part.ids.begin(), part.ids.end(), unk);
    counts.text_bytes = part.text_bytes;
  }
  audit.lengths = lengths_of(std::move(lengths));
  audit.overlap = overlap_of(parts);
}

Json audit_json(const Audit& audit) {
  const EncodingTrouble& encoding = audit.encoding;
  return {
      {"documents", by_part(audit, [](const PartAudit& part) { return part.documents; })},
      {"tokens", by_part(audit, [](const PartAudit& part) { return part.tokens; })},
      {"targets", by_part(audit, [](const PartAudit& part) { return part.targets; })},
      {"text_bytes", by_part(audit, [](const PartAudit& part) { return part.text_bytes; })},
      {"unknown_tokens", by_part(audit, [](const PartAudit& part) { return part.unknown; })},
      {"unknown_rate", by_part(audit, [](const PartAudit& part) { return rate(part.unknown, part.tokens); })},
      {"empty_documents", audit.empty_documents},
      {"duplicates", audit.duplicates},
      {"overlap", audit.overlap},
      {"lengths",
       {{"min", audit.lengths.shortest}, {"median", audit.lengths.median}, {"max", audit.lengths.longest}}},
      {"vocab_size", audit.vocab_size},
      {"vocabulary_cap", audit.vocabulary_cap},
      {"distinct_words", audit.distinct_words},
      {"uncovered_characters", uncovered_json(audit)},
      {"encoding",
       {{"byte_order_marks", encoding.byte_order_marks},
        {"crlf", encoding.crlf},
        {"lone_cr", encoding.lone_cr},
        {"nul", encoding.nul},
        {"replacement_characters", encoding.replacement},
        {"invalid_utf8_files", encoding.invalid_utf8}}},
      {"documents_rule", audit.documents_rule},
      {"split", audit.split},
      {"tokenizer", audit.tokenizer},
      {"notes", audit.notes},
      {"warnings", audit.warnings},
  };
}

std::string audit_text(const Audit& audit) {
  Table table({"part", "documents", "tokens", "targets", "unknown", "rate"});
  for (size_t p = 0; p < kParts; ++p) {
    const PartAudit& part = audit.parts[p];
    table.row({std::string(part_name(static_cast<Part>(p))), with_commas(part.documents),
               with_commas(part.tokens), with_commas(part.targets), with_commas(part.unknown),
               percent(part.unknown, part.tokens)});
  }
  std::string text = table.text();
  const auto line = [&](const char* name, const std::string& value) {
    text += fmt::format("{:<11}{}\n", name, value);
  };
  line("documents",
       fmt::format("{} empty dropped, {} dropped, {} in two parts", with_commas(audit.empty_documents),
                   counted(audit.duplicates, "duplicate"), with_commas(audit.overlap)));
  line("rules", fmt::format("documents by {}, split by {}, {} tokens", audit.documents_rule, audit.split,
                            audit.tokenizer));
  line("lengths", fmt::format("{} at least, {} median, {} at most", counted(audit.lengths.shortest, "token"),
                              audit.lengths.median, with_commas(audit.lengths.longest)));
  line("vocabulary",
       fmt::format("{}{}", counted(audit.vocab_size, "id"),
                   audit.distinct_words == 0
                       ? std::string()
                       : fmt::format(", from {}", counted(audit.distinct_words, "distinct word"))));
  std::string uncovered;
  for (const auto& [character, count] : audit.uncovered) {
    uncovered += fmt::format("{}'{}' {} times", uncovered.empty() ? "" : ", ", character, with_commas(count));
  }
  line("uncovered", uncovered.empty() ? "every visible character belongs to a token" : uncovered);
  line("encoding", encoding_text(audit.encoding));
  return text;
}

}  // namespace tril
