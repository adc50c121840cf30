#include "tril/base/sniff.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstdint>

#include "tril/base/error.h"
#include "tril/base/typed.h"

namespace tril {
namespace {

using namespace std::string_view_literals;

struct Magic {
  std::string_view bytes;
  FileKind kind;
  const char* name;
  const char* advice;
};

constexpr char kConvert[] = "convert it first: iconv -f {} -t UTF-8 FILE > NEW";
constexpr char kExtract[] = "extract its text first";
constexpr char kUnpack[] = "unpack it first";
constexpr char kShow[] = "see what it holds: {} FILE";

std::string show_it() {
  return fmt::format(kShow, typed({"show"}));
}

/// Longer marks stand before shorter ones that they begin with.
constexpr Magic kMagics[] = {
    {"\xFF\xFE\0\0"sv, FileKind::kUtf32, "UTF-32 text (little-endian byte-order mark)",
     "convert it first: iconv -f UTF-32 -t UTF-8 FILE > NEW"},
    {"\0\0\xFE\xFF"sv, FileKind::kUtf32, "UTF-32 text (big-endian byte-order mark)",
     "convert it first: iconv -f UTF-32 -t UTF-8 FILE > NEW"},
    {"\xFF\xFE"sv, FileKind::kUtf16, "UTF-16 text (little-endian byte-order mark)",
     "convert it first: iconv -f UTF-16 -t UTF-8 FILE > NEW"},
    {"\xFE\xFF"sv, FileKind::kUtf16, "UTF-16 text (big-endian byte-order mark)",
     "convert it first: iconv -f UTF-16 -t UTF-8 FILE > NEW"},
    {"\x1F\x8B"sv, FileKind::kGzip, "gzip data", "unpack it first: gunzip -c FILE > NEW"},
    {"version https://git-lfs.github.com/spec/"sv, FileKind::kLfsPointer,
     "a Git LFS pointer, not the file itself", "fetch the real file: git lfs pull"},
    {"GGUF"sv, FileKind::kGguf, "a GGUF model", kShow},
    {"%PDF-"sv, FileKind::kPdf, "a PDF document", kExtract},
    {"\x89PNG\r\n"sv, FileKind::kImage, "a PNG picture", kExtract},
    {"\xFF\xD8\xFF"sv, FileKind::kImage, "a JPEG picture", kExtract},
    {"\x28\xB5\x2F\xFD"sv, FileKind::kCompressed, "zstd data", kUnpack},
    {"\xFD"
     "7zXZ\0"sv,
     FileKind::kCompressed, "xz data", kUnpack},
    {"BZh"sv, FileKind::kCompressed, "bzip2 data", kUnpack},
    {"7z\xBC\xAF\x27\x1C"sv, FileKind::kCompressed, "a 7z archive", kUnpack},
    {"PAR1"sv, FileKind::kDatabase, "a Parquet table", "export its text column as .jsonl first"},
    {"SQLite format 3\0"sv, FileKind::kDatabase, "an SQLite database", "export its text as .jsonl first"},
    {"\x89HDF\r\n"sv, FileKind::kDatabase, "an HDF5 file", "export its text as .jsonl first"},
    {"\x7F"
     "ELF"sv,
     FileKind::kProgram, "a program", "name a text file"},
    {"\x93NUMPY"sv, FileKind::kNumpy, "a NumPy array", "name a text file"},
};

/// bzip2's three letters begin words too: its fourth byte is a digit, and the block's mark follows.
bool confirmed(const Magic& magic, std::string_view head) {
  if (magic.bytes == "BZh"sv) return head.size() >= 10 && head.substr(4, 6) == "1AY&SY"sv;
  if (magic.bytes == "PAR1"sv || magic.bytes == "GGUF"sv) {
    return std::any_of(head.begin(), head.end(),
                       [](char c) { return c >= 0 && c < 9; });  // not a word of a text
  }
  return true;
}

Sniffed zip(std::string_view head) {
  if (head.find("data.pkl") != head.npos) {
    return {FileKind::kPyTorch, "a PyTorch checkpoint (a zip archive with a pickle)",
            "save it as safetensors first; tril never runs a pickle"};
  }
  if (head.find(".npy") != head.npos) return {FileKind::kNpz, "an npz archive", show_it()};
  return {FileKind::kZip, "a zip archive", kUnpack};
}

bool starts_with_ignoring_case(std::string_view text, std::string_view lower) {
  return text.size() >= lower.size() &&
         std::equal(lower.begin(), lower.end(), text.begin(), [](char l, char c) {
           return l == (c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c);
         });
}

bool is_html(std::string_view head) {
  if (starts_with_ignoring_case(head, "\xEF\xBB\xBF")) head.remove_prefix(3);
  head.remove_prefix(std::min(head.find_first_not_of(" \t\r\n"), head.size()));
  return starts_with_ignoring_case(head, "<!doctype html") || starts_with_ignoring_case(head, "<html");
}

bool is_safetensors(std::string_view head, size_t file_size) {
  if (head.size() < 10 || head[8] != '{') return false;
  uint64_t length = 0;
  for (size_t i = 8; i-- > 0;) length = length << 8 | static_cast<unsigned char>(head[i]);
  return length >= 2 && length <= file_size - 8;
}

/// UTF-16 without a mark: for Latin text every second byte is NUL. Other files that are a tenth NUL are no
/// text.
std::optional<Sniffed> by_nul_bytes(std::string_view head) {
  size_t even = 0, odd = 0;
  for (size_t i = 0; i < head.size(); ++i) (i % 2 == 0 ? even : odd) += head[i] == '\0';
  const size_t half = head.size() / 2;
  if (half >= 2 && std::max(even, odd) >= half * 7 / 10 && std::min(even, odd) <= half / 20) {
    const char* encoding = odd > even ? "UTF-16LE" : "UTF-16BE";
    return Sniffed{FileKind::kUtf16, fmt::format("{} text without a byte-order mark", encoding),
                   fmt::format(kConvert, encoding)};
  }
  if (even + odd > head.size() / 10) {
    return Sniffed{FileKind::kBinary,
                   fmt::format("a binary file ({} of its first {} bytes are NUL)", even + odd, head.size()),
                   "name a text file"};
  }
  return std::nullopt;
}

}  // namespace

std::optional<Sniffed> sniff(std::string_view head, size_t file_size) {
  head = head.substr(0, kSniffBytes);
  for (const Magic& magic : kMagics) {
    if (head.substr(0, magic.bytes.size()) == magic.bytes && confirmed(magic, head)) {
      return Sniffed{magic.kind, magic.name, magic.advice == kShow ? show_it() : magic.advice};
    }
  }
  if (head.substr(0, 4) == "PK\x03\x04"sv || head.substr(0, 4) == "PK\x05\x06"sv) return zip(head);
  if (is_safetensors(head, file_size)) {
    return Sniffed{FileKind::kSafetensors, "a safetensors file", show_it()};
  }
  if (is_html(head)) return Sniffed{FileKind::kHtml, "an HTML page", "save its text first"};
  return by_nul_bytes(head);
}

void refuse_unless_text(const std::string& path, std::string_view bytes) {
  const auto found = sniff(bytes, bytes.size());
  if (found && found->kind != FileKind::kHtml) {
    refuse("{}: looks like {}; {}", path, found->name, found->advice);
  }
}

}  // namespace tril
