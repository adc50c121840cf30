// Where text comes from: a file, a folder of .txt, a .jsonl file, inline text, or the built-in tales.
// A source is read whole (mapped where it is a file) and checked: foreign formats are refused by name, a
// byte-order mark is dropped, encoding trouble is counted. It leaves out cutting into documents
// (documents.h).
#pragma once
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "tril/base/file.h"
#include "tril/data/settings.h"

namespace tril {

/// What is odd about the bytes of a source, counted over all of it.
struct EncodingTrouble {
  int64_t byte_order_marks = 0;  // dropped
  int64_t crlf = 0;              // CR LF pairs: one line end each
  int64_t lone_cr = 0;           // CR without LF: a line end as well
  int64_t nul = 0;
  int64_t replacement = 0;   // U+FFFD: what another program put where it could not read
  int64_t invalid_utf8 = 0;  // files with invalid UTF-8 (byte-level tokenizers only; others refuse them)
};

/// Invariant: pieces are views into maps and strings, and live as long as they do. Move-only.
struct Source {
  std::string kind;  // "file", "folder", "jsonl", "text" or "tales"
  std::string path;  // as given; "tales" for tales, "" for inline text
  int64_t bytes = 0;
  int64_t files = 0;
  std::string sha256;    // of the bytes; of a folder: of the lines "HASH  NAME\n" of its files
  bool records = false;  // each piece is a document (tales, jsonl)
  std::vector<std::string_view> pieces;  // the text of each file or record
  EncodingTrouble encoding;
  std::vector<std::string> notes;     // for the user, whole sentences
  std::vector<std::string> warnings;  // likewise

  std::deque<MappedFile> maps;
  std::deque<std::string> strings;

  /// The source's name in messages: its path, "standard input", "the tales" or "data.text".
  std::string name() const;
};

/// How many tales there are where data.stories asks for all.
inline constexpr int64_t kDefaultTales = 1300;

/// Reads the source that the settings name: data.path ("tales" or "" for the tales, "-" for standard input),
/// else data.text repeated data.repeat times. Throws Refusal: not there, not text, no .txt in a folder, a bad
/// record of a .jsonl file with its line, and invalid UTF-8 with its byte offset unless any_bytes.
Source open_source(const DataSettings& settings, bool any_bytes);

}  // namespace tril
