#include "tril/base/sniff.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "tril/base/error.h"
#include "tril/base/file.h"

namespace tril {
namespace {

using namespace std::string_view_literals;

std::optional<FileKind> kind(std::string_view bytes) {
  const auto found = sniff(bytes, bytes.size());
  return found ? std::optional(found->kind) : std::nullopt;
}

TEST(Sniff, PlainTextIsNothingElse) {
  for (const auto text : {""sv, "a"sv, "Once upon a time"sv, "\xEF\xBB\xBFwith a mark"sv,
                          "GGUF is a format"sv, "BZh is no word"sv, "PAR1 is a car"sv, "PK"sv,
                          "<script>alert(1)</script>"sv, "{\"a\": 1}"sv, "1234567{not a header}"sv,
                          "\xC3\xA9t\xC3\xA9"sv, "one NUL in a longer text\0 is odd, not binary"sv}) {
    EXPECT_EQ(kind(text), std::nullopt) << text;
  }
}

TEST(Sniff, EncodingsOfText) {
  EXPECT_EQ(kind("\xFF\xFEO\0n\0"sv), FileKind::kUtf16);
  EXPECT_EQ(kind("\xFE\xFF\0O\0n"sv), FileKind::kUtf16);
  EXPECT_EQ(kind("\xFF\xFE\0\0O\0\0\0"sv), FileKind::kUtf32);
  EXPECT_EQ(kind("\0\0\xFE\xFF\0\0\0O"sv), FileKind::kUtf32);
  EXPECT_EQ(sniff("O\0n\0c\0e\0"sv, 8)->name, "UTF-16LE text without a byte-order mark");
  EXPECT_EQ(sniff("\0O\0n\0c\0e"sv, 8)->advice, "convert it first: iconv -f UTF-16BE -t UTF-8 FILE > NEW");
}

TEST(Sniff, ContainersAndModels) {
  EXPECT_EQ(kind("\x1F\x8B\x08\0"sv), FileKind::kGzip);
  EXPECT_EQ(kind("PK\x03\x04 archive/data.pkl"sv), FileKind::kPyTorch);
  EXPECT_EQ(kind("PK\x03\x04 w.npy"sv), FileKind::kNpz);
  EXPECT_EQ(kind("PK\x03\x04 word/document.xml"sv), FileKind::kZip);
  EXPECT_EQ(kind("GGUF\x03\0\0\0"sv), FileKind::kGguf);
  EXPECT_EQ(kind("\x08\0\0\0\0\0\0\0{\"a\":{}}"sv), FileKind::kSafetensors);
  EXPECT_NE(kind("\x09\0\0\0\0\0\0\0{\"a\":{}}"sv), FileKind::kSafetensors);  // its header would pass the end
  EXPECT_EQ(kind("version https://git-lfs.github.com/spec/v1\noid"), FileKind::kLfsPointer);
  EXPECT_EQ(kind("\n <!DOCTYPE html><p>"), FileKind::kHtml);
  EXPECT_EQ(kind("<HTML>"), FileKind::kHtml);
  EXPECT_EQ(kind("%PDF-1.7"), FileKind::kPdf);
  EXPECT_EQ(kind("BZh91AY&SY\x01\x02"), FileKind::kCompressed);
  EXPECT_EQ(kind(std::string(50, '\0') + std::string(300, 'x')), FileKind::kBinary);
}

TEST(Sniff, RefusalNamesFileAndRemedy) {
  try {
    refuse_unless_text("corpus.txt", "\x1F\x8B\x08");
    FAIL();
  } catch (const Refusal& refusal) {
    EXPECT_STREQ(refusal.what(), "corpus.txt: looks like gzip data; unpack it first: gunzip -c FILE > NEW");
  }
  refuse_unless_text("page.txt", "<html>");  // text as well
}

TEST(Sniff, FixturesOfOtherFormats) {
  const char* folder = std::getenv("TRIL_SHARED");
  const std::string shared =
      (folder != nullptr ? folder : TRIL_SOURCE_DIR "/../shared") + std::string("/fixtures/");
  if (!std::filesystem::exists(shared)) GTEST_SKIP() << "no shared data";
  const auto of = [&](const char* file) { return kind(read_file(shared + file)); };
  EXPECT_EQ(of("text/utf16le.txt"), FileKind::kUtf16);
  EXPECT_EQ(of("text/gzip_renamed.txt"), FileKind::kGzip);
  EXPECT_EQ(of("st/lfs_pointer.safetensors"), FileKind::kLfsPointer);
  EXPECT_EQ(of("st/torch_zip_renamed.safetensors"), FileKind::kPyTorch);
  EXPECT_EQ(of("st/ok_min.safetensors"), FileKind::kSafetensors);
  EXPECT_EQ(of("gguf/ok_min.gguf"), FileKind::kGguf);
  EXPECT_EQ(of("gguf/html.gguf"), FileKind::kHtml);
  EXPECT_EQ(of("npz/ok.npz"), FileKind::kNpz);
  EXPECT_EQ(of("tok/utf16.json"), FileKind::kUtf16);
  for (const char* text :
       {"bom", "cjk_nospace", "emoji_zwj", "html_script", "invalid_utf8", "literal_specials", "empty"}) {
    EXPECT_EQ(of(("text/" + std::string(text) + ".txt").c_str()), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace tril
