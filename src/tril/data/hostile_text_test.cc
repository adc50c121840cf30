// Texts that break careless programs, through the whole of build_corpus with words and characters. The same
// kinds as the fixtures of the shared folder, made here, and those fixtures themselves where the folder is at
// hand.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "tril/base/error.h"
#include "tril/base/file.h"
#include "tril/data/blocks.h"
#include "tril/data/corpus.h"

namespace tril {
namespace {

using testing::HasSubstr;

Corpus build(DataSettings settings, const std::string& tokenizer) {
  settings.tokenizer = tokenizer;
  settings.split = tokenizer == "word" ? "hash" : "tail";
  CorpusOptions options;
  options.announce = false;
  return build_corpus(settings, options);
}

Corpus of_text(const std::string& text, const std::string& tokenizer) {
  DataSettings settings;
  settings.text = text;
  return build(settings, tokenizer);
}

Corpus of_file(const std::string& path, const std::string& tokenizer) {
  DataSettings settings;
  settings.path = path;
  return build(settings, tokenizer);
}

std::string refusal(const std::string& path, const std::string& tokenizer) {
  try {
    of_file(path, tokenizer);
  } catch (const Refusal& refusal) {
    return refusal.what();
  }
  return "no refusal";
}

/// The text that the ids of all parts give back.
std::string decoded(const Corpus& corpus) {
  std::string text;
  for (const Tokens& part : corpus.parts) text += corpus.tokenizer->decode(part.ids);
  return text;
}

/// No id of a document's inside is PAD, BOS or EOS.
bool holds_no_special(const Corpus& corpus) {
  for (const Tokens& part : corpus.parts) {
    for (int64_t d = 0; d < part.documents(); ++d) {
      const auto document = part.document(d);
      for (const int32_t id : document.subspan(1, document.size() - 2)) {
        if (id < 3) return false;
      }
    }
  }
  return true;
}

TEST(HostileText, FiveMegabytesOfOneCharacter) {
  const std::string run(5'000'000, 'A');
  const Corpus words = of_text(run, "word");
  EXPECT_EQ(words.train().ids.size(), 3u);
  EXPECT_EQ(words.tokenizer->token_text(4).size(), run.size());
  EXPECT_EQ(decoded(of_text(run, "char")), run);
  EXPECT_EQ(of_text(std::string(5'000'000, '.'), "word").train().ids.size(), 5'000'002u);
  EXPECT_EQ(of_text(std::string(5'000'000, '\''), "word").audit.vocab_size, 5);
}

TEST(HostileText, LiteralSpecialsArePlainText) {
  const std::string text = "He typed <|endoftext| and <bos> and </s> and <EOS> <PAD><UNK> into the box.";
  EXPECT_TRUE(holds_no_special(of_text(text, "word")));
  EXPECT_EQ(decoded(of_text(text, "char")), text);
}

TEST(HostileText, NulBytesAreCharactersWithAWarning) {
  const std::string text = std::string("a\0b ", 4) + "and enough other text that this is no binary file";
  EXPECT_THAT(testing::PrintToString(of_text(text, "word").audit.warnings), HasSubstr("1 NUL byte,"));
  EXPECT_EQ(decoded(of_text(text, "char")), text);
}

TEST(HostileText, LineEndsOfEveryKindGiveTheSameWords) {
  const Corpus unix = of_text("one two\n\nthree", "word");
  for (const char* text : {"one two\r\n\r\nthree", "one two\r\rthree", "one two\n \t\nthree\r\n"}) {
    const Corpus other = of_text(text, "word");
    EXPECT_EQ(other.train().ids, unix.train().ids);
    EXPECT_EQ(other.train().document_ids, unix.train().document_ids);
  }
  EXPECT_EQ(decoded(of_text("a\r\nb\rc\n", "char")), "a\r\nb\rc\n");  // characters stay as they are
}

TEST(HostileText, OneSymbolAlone) {
  const Corpus corpus = of_text(std::string(2000, 'x'), "char");
  EXPECT_EQ(corpus.tokenizer->vocab_size(), 1);
  EXPECT_EQ(corpus.train().ids.size(), 1800u);
}

class HostileFixtures : public testing::Test {
 protected:
  void SetUp() override {
    const char* folder = std::getenv("TRIL_SHARED");
    folder_ = (folder != nullptr ? folder : TRIL_SOURCE_DIR "/../shared") + std::string("/fixtures/text/");
    if (!std::filesystem::exists(folder_)) GTEST_SKIP() << "no shared data";
  }
  std::string folder_;
};

// Case 1.
TEST_F(HostileFixtures, WithoutText) {
  for (const char* file : {"empty.txt", "whitespace_only.txt"}) {
    EXPECT_THAT(refusal(folder_ + file, "word"), HasSubstr(folder_ + file + ": no trainable text"));
  }
  EXPECT_THAT(refusal(folder_ + "empty.txt", "char"), HasSubstr("no trainable text: it is empty"));
  EXPECT_EQ(decoded(of_file(folder_ + "whitespace_only.txt", "char")),
            read_file(folder_ + "whitespace_only.txt"));
}

// Case 13: the text's length and what a block needs, both told.
TEST_F(HostileFixtures, TooShortForABlock) {
  const Corpus one = of_file(folder_ + "one_char_no_nl.txt", "char");
  EXPECT_EQ(one.train().ids.size() + one.validation().ids.size(), 1u);
  DataSettings settings;
  settings.split = "none";
  settings.tokenizer = "char";
  CorpusOptions options;
  options.announce = false;
  settings.path = folder_ + "ctx8_len8.txt";
  try {
    Blocks(build_corpus(settings, options).train().ids, 8, settings.path);
    FAIL();
  } catch (const Refusal& refusal) {
    EXPECT_THAT(refusal.what(), HasSubstr("8 tokens, needs 9"));
  }
  settings.path = folder_ + "ctx8_len9.txt";
  const Corpus nine = build_corpus(settings, options);
  EXPECT_EQ(Blocks(nine.train().ids, 8, settings.path).starts(), 1);
}

TEST_F(HostileFixtures, NotUtf8) {
  for (const char* tokenizer : {"word", "char"}) {
    EXPECT_THAT(refusal(folder_ + "utf16le.txt", tokenizer), HasSubstr("UTF-16"));
    EXPECT_THAT(refusal(folder_ + "gzip_renamed.txt", tokenizer), HasSubstr("gzip"));
    EXPECT_THAT(refusal(folder_ + "invalid_utf8.txt", tokenizer), HasSubstr("byte 11:"));
    EXPECT_THAT(refusal(folder_ + "truncated_utf8_end.txt", tokenizer), HasSubstr("byte 1320:"));
    EXPECT_THAT(refusal(folder_ + "one_story_per_line.jsonl", tokenizer), HasSubstr("line 4:"));
  }
}

// Case 2.
TEST_F(HostileFixtures, MarkIsNotGluedToTheFirstWord) {
  const Corpus corpus = of_file(folder_ + "bom.txt", "word");
  EXPECT_EQ(corpus.audit.encoding.byte_order_marks, 1);
  EXPECT_EQ(corpus.tokenizer->token_text(corpus.train().ids[1]), "once");
  const Corpus characters = of_file(folder_ + "bom.txt", "char");
  EXPECT_EQ(characters.tokenizer->unknown("\xEF\xBB\xBF").size(), 1u);  // it is no entry of the vocabulary
}

TEST_F(HostileFixtures, SpecialsInTextStayText) {
  for (const char* file : {"only_specials.txt", "literal_specials.txt", "nearly_specials.txt"}) {
    const Corpus words = of_file(folder_ + file, "word");
    EXPECT_TRUE(holds_no_special(words)) << file;
    EXPECT_GT(words.audit.parts[0].targets, 0) << file;
    EXPECT_EQ(decoded(of_file(folder_ + file, "char")), read_file(folder_ + file)) << file;
  }
  EXPECT_EQ(of_file(folder_ + "nearly_specials.txt", "word").audit.documents_rule, "separator");
}

TEST_F(HostileFixtures, TextOfEveryKindComesBackFromItsCharacters) {
  for (const char* file : {"emoji_zwj.txt", "cjk_nospace.txt", "trailing_spaces.txt", "val_only_chars.txt",
                           "one_symbol.txt", "html_script.txt"}) {
    const Corpus corpus = of_file(folder_ + file, "char");
    EXPECT_EQ(decoded(corpus), read_file(folder_ + file)) << file;
  }
}

TEST_F(HostileFixtures, WordsOfEveryKind) {
  for (const char* file : {"emoji_zwj.txt", "trailing_spaces.txt", "val_only_chars.txt", "html_script.txt",
                           "one_char_no_nl.txt"}) {
    EXPECT_GT(of_file(folder_ + file, "word").audit.parts[0].targets, 0) << file;
  }
  EXPECT_THAT(testing::PrintToString(of_file(folder_ + "cjk_nospace.txt", "word").audit.warnings),
              HasSubstr("without spaces"));
}

// Case 5: separators of every make; each document once.
TEST_F(HostileFixtures, DocumentsAreCounted) {
  const Corpus glued = of_file(folder_ + "stories_bad_sep.txt", "word");
  EXPECT_EQ(glued.audit.documents(), 5);
  EXPECT_EQ(glued.audit.empty_documents, 2);
  EXPECT_EQ(of_file(folder_ + "stories_blankline_sep.txt", "word").audit.documents(), 5);
  // As a stream: one end token behind each document that holds text, and no mark among the characters.
  DataSettings settings;
  settings.path = folder_ + "stories_bad_sep.txt";
  settings.tokenizer = "char";
  settings.split = "none";
  CorpusOptions options;
  options.announce = false;
  EXPECT_EQ(decoded(build_corpus(settings, options)), "One.\nTwo.\nThree.\nFour.\nFive.\n\n\n\nSix.\n");
}

}  // namespace
}  // namespace tril
