#include "tril/data/documents.h"

#include <algorithm>

namespace tril {
namespace {

constexpr char kBlanks[] = " \t\n\v\f\r";

std::string_view trimmed(std::string_view text) {
  const size_t first = text.find_first_not_of(kBlanks);
  if (first == text.npos) return {};
  return text.substr(first, text.find_last_not_of(kBlanks) + 1 - first);
}

/// Takes the next line off `rest`, without its end.
std::string_view next_line(std::string_view& rest) {
  const size_t end = std::min(rest.find_first_of("\r\n"), rest.size());
  const std::string_view line = rest.substr(0, end);
  const bool pair = end + 1 < rest.size() && rest[end] == '\r' && rest[end + 1] == '\n';
  rest.remove_prefix(std::min(end + (pair ? 2 : 1), rest.size()));
  return line;
}

void add(std::string_view text, Documents& documents) {
  const std::string_view inside = trimmed(text);
  if (inside.empty()) {
    ++documents.empty;
  } else {
    documents.texts.push_back(inside);
  }
}

void cut_at_separators(std::string_view piece, Documents& documents) {
  for (size_t at = piece.find(kSeparator); at != piece.npos; at = piece.find(kSeparator)) {
    add(piece.substr(0, at), documents);
    piece.remove_prefix(at + kSeparator.size());
  }
  if (!trimmed(piece).empty()) add(piece, documents);
}

void cut_at_blank_lines(std::string_view piece, Documents& documents) {
  const char* start = nullptr;  // of the document that the lines so far belong to
  const char* end = nullptr;
  const auto close = [&] {
    if (start != nullptr) add({start, static_cast<size_t>(end - start)}, documents);
    start = nullptr;
  };
  while (!piece.empty()) {
    const std::string_view line = next_line(piece);
    if (trimmed(line).empty()) {
      close();
      continue;
    }
    if (start == nullptr) start = line.data();
    end = line.data() + line.size();
  }
  close();
}

void cut_at_lines(std::string_view piece, Documents& documents) {
  while (!piece.empty()) add(next_line(piece), documents);
}

}  // namespace

std::string document_rule(const std::string& documents, const Source& source, bool words) {
  if (documents != "auto") return documents;
  if (source.records) return "whole";
  const auto has_separator = [](std::string_view piece) { return piece.find(kSeparator) != piece.npos; };
  if (std::any_of(source.pieces.begin(), source.pieces.end(), has_separator)) return "separator";
  return words ? "blank-line" : "whole";
}

int64_t list_lines(std::string_view text) {
  constexpr size_t kLongest = 40;
  constexpr int64_t kFewest = 50;
  text = trimmed(text);
  int64_t lines = 0;
  while (!text.empty()) {
    const std::string_view line = trimmed(next_line(text));
    if (line.empty() || line.size() > kLongest) return 0;
    ++lines;
  }
  return lines < kFewest ? 0 : lines;
}

Documents cut_documents(const Source& source, const std::string& rule) {
  Documents documents;
  documents.rule = rule;
  for (const std::string_view piece : source.pieces) {
    if (rule == "separator") {
      cut_at_separators(piece, documents);
    } else if (rule == "blank-line") {
      cut_at_blank_lines(piece, documents);
    } else if (rule == "line") {
      cut_at_lines(piece, documents);
    } else if (piece.empty()) {
      ++documents.empty;
    } else {
      documents.texts.push_back(piece);
    }
  }
  return documents;
}

}  // namespace tril
