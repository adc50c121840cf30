// Cutting a source into documents: where one text ends and the next begins.
//   separator   between marks <|endoftext|>, also where they are glued to text
//   blank-line  between lines that hold white space alone
//   line        each line            whole   each file or record
// A line ends with LF, CR LF or CR. It leaves out duplicates and splits (split.h).
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tril/data/source.h"

namespace tril {

inline constexpr std::string_view kSeparator = "<|endoftext|>";

struct Documents {
  std::string rule;                     // separator | blank-line | line | whole
  std::vector<std::string_view> texts;  // without the ASCII white space around them (rule whole: untouched)
  int64_t empty = 0;                    // dropped: nothing, or (but for whole) white space alone
};

/// The rule that `documents` = auto stands for: separator where the mark occurs, else blank-line for a word
/// tokenizer, else whole. Records (jsonl, tales) are documents already: whole.
std::string document_rule(const std::string& documents, const Source& source, bool words);

/// How many lines a text has, where it looks like a list of which each line is an entry: fifty or more, none
/// of them empty or over 40 bytes. 0 for any other text.
int64_t list_lines(std::string_view text);

/// The documents in the order of the source. The end of a file after its last separator is no empty document.
Documents cut_documents(const Source& source, const std::string& rule);

}  // namespace tril
