// A text file in pieces, so that a file of any size is read in constant memory: held to the rules of
// open_source (source.h), cut where the reader allows. What it leaves out: folders, records, standard input.
#pragma once
#include <cstdint>
#include <fstream>
#include <string>
#include <string_view>

namespace tril {

/// Where a piece may end: behind a whole character, or behind ASCII white space.
enum class ChunkEnd { kCharacter, kWhiteSpace };

class TextChunks {
 public:
  /// Opens a regular file; refuses what is no text, and drops a byte-order mark with a note. `any_bytes`:
  /// bytes that are no UTF-8 are kept, with a warning that names the first; else they are refused with their
  /// place. `quiet`: neither notes nor warnings, for a second reading. `chunk`: about how long a piece is.
  TextChunks(const std::string& path, ChunkEnd end, bool any_bytes, bool quiet = false,
             size_t chunk = 1 << 22);

  /// The next piece, valid until the next call; false at the end. A stretch in which no end is allowed makes
  /// a piece longer. Throws Refusal where reading fails.
  bool next(std::string_view& piece);

  int64_t done() const { return done_; }    // bytes of the file that were read
  int64_t total() const { return total_; }  // and all there are

 private:
  void fill();
  size_t allowed_end() const;
  void check(std::string_view piece);

  std::string path_;
  ChunkEnd end_;
  bool any_bytes_, quiet_, warned_ = false;
  size_t chunk_;
  std::ifstream file_;
  int64_t total_ = 0, done_ = 0;
  int64_t at_ = 0;    // the place of held_ in the file
  std::string held_;  // what was read, and its first given_ bytes handed on
  size_t given_ = 0;
};

}  // namespace tril
