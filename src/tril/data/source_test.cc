#include "tril/data/source.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "tril/base/error.h"
#include "tril/base/folder_testing.h"
#include "tril/base/hash.h"
#include "tril/data/tales.h"

namespace tril {
namespace {

namespace fs = std::filesystem;
using namespace std::string_view_literals;
using Texts = std::vector<std::string_view>;

class SourceTest : public testing::Test {
 protected:
  std::string put(const std::string& name, std::string_view bytes) {
    write_file_atomically(folder_ + "/" + name, bytes);
    return folder_ + "/" + name;
  }
  static Source open(const std::string& path, bool any_bytes = false) {
    DataSettings settings;
    settings.path = path;
    return open_source(settings, any_bytes);
  }
  static std::string refusal(const std::string& path) {
    try {
      open(path);
    } catch (const Refusal& refusal) {
      return refusal.what();
    }
    return "no refusal";
  }

  TemporaryFolder scratch_;
  const std::string folder_ = scratch_.path();
};

TEST_F(SourceTest, FileIsOnePiece) {
  const std::string path = put("a.txt", "One.\r\nTwo.\rThree.\n");
  const Source source = open(path);
  EXPECT_EQ(source.kind, "file");
  EXPECT_EQ(source.pieces, Texts{"One.\r\nTwo.\rThree.\n"});
  EXPECT_EQ(source.bytes, 18);
  EXPECT_EQ(source.sha256, sha256_hex("One.\r\nTwo.\rThree.\n"));
  EXPECT_EQ(source.encoding.crlf, 1);
  EXPECT_EQ(source.encoding.lone_cr, 1);
}

TEST_F(SourceTest, ByteOrderMarkIsDroppedWithANote) {
  const Source source = open(put("a.txt", "\xEF\xBB\xBFOnce"));
  EXPECT_EQ(source.pieces, Texts{"Once"});
  EXPECT_EQ(source.encoding.byte_order_marks, 1);
  ASSERT_EQ(source.notes.size(), 1u);
  EXPECT_EQ(open(put("b.txt", "Once\xEF\xBB\xBF")).pieces,
            Texts{"Once\xEF\xBB\xBF"});  // elsewhere it is a character
}

TEST_F(SourceTest, TroubleIsCounted) {
  const Source source = open(put("a.txt", "a\0b \xEF\xBF\xBD\xEF\xBF\xBD and so on, and so on"sv));
  EXPECT_EQ(source.encoding.nul, 1);
  EXPECT_EQ(source.encoding.replacement, 2);
}

TEST_F(SourceTest, FolderIsItsTextFilesSortedByBytes) {
  put("b.txt", "b");
  put("B.txt", "B");
  put("é.txt", "e");
  put("a.txt", "a");
  put("notes.md", "not read");
  fs::create_directories(folder_ + "/c.txt");
  const Source source = open(folder_);
  EXPECT_EQ(source.kind, "folder");
  EXPECT_EQ(source.files, 4);
  EXPECT_EQ(source.pieces, (Texts{"B", "a", "b", "e"}));
  const std::string listing = sha256_hex("B") + "  B.txt\n" + sha256_hex("a") + "  a.txt\n" +
                              sha256_hex("b") + "  b.txt\n" + sha256_hex("e") + "  é.txt\n";
  EXPECT_EQ(source.sha256, sha256_hex(listing));
}

TEST_F(SourceTest, FolderWithoutTextIsRefused) {
  EXPECT_EQ(refusal(folder_), folder_ + ": no trainable text: the folder holds no .txt file");
}

TEST_F(SourceTest, JsonLinesGiveOneDocumentEach) {
  const Source source =
      open(put("a.jsonl", "{\"text\": \"One\\n\\u00e9\"}\r\n\n{\"id\": 3, \"text\": \"\"}\n"));
  EXPECT_TRUE(source.records);
  EXPECT_EQ(source.pieces, (Texts{"One\né", ""}));
}

TEST_F(SourceTest, BadRecordIsNamedByItsLine) {
  const auto with = [&](const std::string& record) {
    return refusal(put("a.jsonl", "{\"text\":\"One.\"}\n\n" + record));
  };
  const std::string path = folder_ + "/a.jsonl";
  EXPECT_EQ(with("{\"text\":null}"), path + ": line 3: the record has no string \"text\"");
  EXPECT_EQ(with("{\"txt\":\"a\"}"), path + ": line 3: the record has no string \"text\"");
  EXPECT_EQ(with("[\"a\"]"), path + ": line 3: the record has no string \"text\"");
  EXPECT_EQ(with("{\"text\":\"lone \\ud83d\"}"), path + ": line 3: not valid JSON");
  EXPECT_EQ(with("not json"), path + ": line 3: not valid JSON");
  EXPECT_EQ(with(std::string("{\"text\":\"a\"}\0b", 14)), path + ": line 3: not valid JSON");
}

TEST_F(SourceTest, ForeignAndBrokenFilesAreRefused) {
  const std::string path = folder_ + "/a.txt";
  put("a.txt", std::string_view("\xFF\xFEO\0n\0", 6));
  EXPECT_NE(refusal(path).find("looks like UTF-16 text"), std::string::npos);
  put("a.txt", "\x1F\x8B\x08");
  EXPECT_NE(refusal(path).find("looks like gzip data"), std::string::npos);
  put("a.txt", "Once upon a\xFFtime");
  EXPECT_EQ(refusal(path), path + ": byte 11: not valid UTF-8 (0xFF); save the text as UTF-8");
  put("a.txt", "\xEF\xBB\xBFOnce upon a\xFFtime");
  EXPECT_NE(refusal(path).find("byte 14"), std::string::npos);  // an offset in the file, mark and all
  put("a.txt", "happy.\xE2\x82");
  EXPECT_NE(refusal(path).find("byte 6"), std::string::npos);
  EXPECT_NE(refusal(folder_ + "/none.txt").find("none.txt: can't be read"), std::string::npos);
}

TEST_F(SourceTest, ByteLevelTokenizersTakeAnyBytes) {
  const Source source = open(put("a.txt", "a\xFFz"), true);
  EXPECT_EQ(source.pieces, Texts{"a\xFFz"});
  EXPECT_EQ(source.encoding.invalid_utf8, 1);
  EXPECT_EQ(source.warnings.size(), 1u);
}

TEST_F(SourceTest, HtmlIsTextWithAWarning) {
  EXPECT_EQ(open(put("a.txt", "<!DOCTYPE html><p>Hi")).warnings.size(), 1u);
  EXPECT_TRUE(open(put("b.txt", "<script>alert(1)</script>")).warnings.empty());
}

TEST(Source, InlineTextIsRepeated) {
  DataSettings settings;
  settings.text = "abc";
  settings.repeat = 20;
  const Source source = open_source(settings, false);
  EXPECT_EQ(source.bytes, 60);
  EXPECT_EQ(source.name(), "data.text");
  settings.repeat = int64_t{1} << 40;
  EXPECT_THROW(open_source(settings, false), Refusal);  // before any memory is taken
}

TEST(Source, NothingNamedMeansTales) {
  DataSettings settings;
  settings.stories = 3;
  settings.seed = 5;
  const Source source = open_source(settings, false);
  const auto texts = tales(3, 5);
  EXPECT_EQ(source.pieces, Texts(texts.begin(), texts.end()));
  EXPECT_EQ(source.name(), "the tales");
  settings.path = "tales";
  EXPECT_EQ(open_source(settings, false).sha256, source.sha256);
  settings.seed = 6;
  EXPECT_NE(open_source(settings, false).sha256, source.sha256);
  settings.stories = 0;
  EXPECT_EQ(open_source(settings, false).pieces.size(), 1300u);
  settings.stories = int64_t{1} << 40;
  EXPECT_THROW(open_source(settings, false), Refusal);
}

std::string fixture(const std::string& file) {
  const char* folder = std::getenv("TRIL_SHARED");
  return (folder != nullptr ? folder : TRIL_SOURCE_DIR "/../shared") + ("/fixtures/text/" + file);
}

TEST_F(SourceTest, FixturesThatAreRefused) {
  if (!fs::exists(fixture("bom.txt"))) GTEST_SKIP() << "no shared data";
  EXPECT_NE(refusal(fixture("utf16le.txt")).find("looks like UTF-16 text"), std::string::npos);
  EXPECT_NE(refusal(fixture("gzip_renamed.txt")).find("looks like gzip data"), std::string::npos);
  EXPECT_NE(refusal(fixture("invalid_utf8.txt")).find("byte 11"), std::string::npos);
  EXPECT_NE(refusal(fixture("truncated_utf8_end.txt")).find("byte 1320"), std::string::npos);
  EXPECT_NE(refusal(fixture("one_story_per_line.jsonl")).find("line 4"), std::string::npos);
  EXPECT_EQ(open(fixture("bom.txt")).encoding.byte_order_marks, 1);
}

}  // namespace
}  // namespace tril
