// What a file seems to be, from its first bytes: so that "this is a gzip file" is said, and not "byte 1 is
// invalid". It leaves out reading any of these formats, and plain text in other 8-bit encodings, which can't
// be told.
#pragma once
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace tril {

enum class FileKind {
  kUtf16,
  kUtf32,
  kGzip,
  kZip,
  kPyTorch,
  kNpz,
  kHtml,
  kLfsPointer,
  kGguf,
  kSafetensors,
  kPdf,
  kImage,
  kCompressed,  // zstd, xz, bzip2, 7z
  kDatabase,    // Parquet, SQLite, HDF5
  kProgram,     // ELF
  kNumpy,
  kBinary,  // many NUL bytes and none of the above
};

struct Sniffed {
  FileKind kind;
  std::string name;    // "gzip data": goes behind "looks like"
  std::string advice;  // "unpack it first: gunzip -c FILE > NEW": what to do
};

/// How many bytes of a file's start sniff() looks at.
inline constexpr size_t kSniffBytes = 4096;

/// What the file seems to be, or nullopt where it looks like plain text (or is empty). `head` is its first
/// bytes, `file_size` the whole file's size. An HTML page is text as well: whether it is refused is the
/// caller's choice.
std::optional<Sniffed> sniff(std::string_view head, size_t file_size);

/// Throws Refusal "PATH: looks like NAME; ADVICE" for anything but plain text and HTML.
void refuse_unless_text(const std::string& path, std::string_view bytes);

}  // namespace tril
