#include "tril/data/text_chunks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "tril/base/error.h"
#include "tril/base/error_testing.h"
#include "tril/base/file.h"
#include "tril/base/folder_testing.h"
#include "tril/text/utf8.h"

namespace tril {
namespace {

using testing::HasSubstr;

class TextChunksTest : public testing::Test {
 protected:
  std::string put(std::string_view bytes) const {
    write_file_atomically(folder_ / "t.txt", bytes);
    return folder_ / "t.txt";
  }
  static std::vector<std::string> pieces(const std::string& path, ChunkEnd end, size_t chunk,
                                         bool any_bytes = false) {
    TextChunks chunks(path, end, any_bytes, true, chunk);
    std::vector<std::string> all;
    for (std::string_view piece; chunks.next(piece);) all.emplace_back(piece);
    EXPECT_EQ(chunks.done(), chunks.total());
    return all;
  }
  static std::string joined(const std::vector<std::string>& pieces) {
    std::string all;
    for (const std::string& piece : pieces) all += piece;
    return all;
  }
  const TemporaryFolder folder_;
};

TEST_F(TextChunksTest, ThePiecesAreTheTextAndEndWhereTheyMay) {
  const std::string text = "a \u20AC\u20AC b\n\U0001F600c  d";
  const std::string path = put(text);
  for (size_t chunk = 1; chunk < 24; ++chunk) {
    const auto characters = pieces(path, ChunkEnd::kCharacter, chunk),
               words = pieces(path, ChunkEnd::kWhiteSpace, chunk);
    EXPECT_EQ(joined(characters), text);
    EXPECT_EQ(joined(words), text);
    for (const std::string& piece : characters) EXPECT_FALSE(first_invalid_utf8(piece)) << chunk;
    for (size_t i = 0; i + 1 < words.size(); ++i)
      EXPECT_NE(std::string(" \n").find(words[i].back()), std::string::npos);
  }
}

TEST_F(TextChunksTest, AByteOrderMarkIsDropped) {
  const std::string path = put("\xEF\xBB\xBFone two");
  for (size_t chunk : {1, 2, 3, 100})
    EXPECT_EQ(joined(pieces(path, ChunkEnd::kWhiteSpace, chunk)), "one two");
  testing::internal::CaptureStderr();
  TextChunks said(path, ChunkEnd::kWhiteSpace, false);
  EXPECT_THAT(testing::internal::GetCapturedStderr(),
              HasSubstr("the byte-order mark at its start is dropped"));
}

TEST_F(TextChunksTest, BytesThatAreNoUtf8AreNamedByTheirPlaceInTheFile) {
  const std::string path =
      put("\xEF\xBB\xBF"
          "abc d\xFF e \xE2\x82");
  for (size_t chunk : {1, 4, 100}) {
    try {
      pieces(path, ChunkEnd::kCharacter, chunk);
      FAIL();
    } catch (const Refusal& refusal) {
      EXPECT_THAT(refusal.what(), HasSubstr("byte 8: not valid UTF-8 (0xFF)"));
    }
    EXPECT_EQ(joined(pieces(path, ChunkEnd::kCharacter, chunk, true)), "abc d\xFF e \xE2\x82");
  }
}

TEST_F(TextChunksTest, WhyAFileCanNotBeReadIsTold) {
  const std::string path = put("a");
  const auto why = [](const std::string& file) {
    return refusal_of([&] { TextChunks chunks(file, ChunkEnd::kWhiteSpace, false); });
  };
  EXPECT_EQ(why(path + "-none"), path + "-none: can't be read: No such file or directory");
  std::filesystem::create_symlink(path + "-loop", path + "-loop");
  EXPECT_EQ(why(path + "-loop"), path + "-loop: can't be read: Too many levels of symbolic links");
}

TEST_F(TextChunksTest, WhatIsNoTextIsRefused) {
  EXPECT_THROW(TextChunks(put(std::string_view("\xFF\xFE"
                                               "a\0b\0",
                                               6)),
                          ChunkEnd::kCharacter, true),
               Refusal);
  EXPECT_THROW(TextChunks(folder_ / "none", ChunkEnd::kCharacter, true), Refusal);
  EXPECT_TRUE(pieces(put(""), ChunkEnd::kCharacter, 4).empty());
}

// A word of a million bytes read 16 at a time.
TEST_F(TextChunksTest, AStretchWithoutAnEndTakesLinearTime) {
  const std::string text = std::string(1'000'000, 'a') + " b";
  EXPECT_EQ(joined(pieces(put(text), ChunkEnd::kWhiteSpace, 16)), text);
}

}  // namespace
}  // namespace tril
