#include "tril/data/corpus.h"

#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "tril/base/error.h"
#include "tril/base/file.h"
#include "tril/base/folder_testing.h"
#include "tril/data/windows.h"
#include "tril/text/load_tokenizer.h"

namespace tril {
namespace {

DataSettings inline_text(const std::string& text) {
  DataSettings settings;
  settings.text = text;
  settings.min_count = 1;
  return settings;
}

Corpus quiet(const DataSettings& settings, CorpusOptions options = {}) {
  options.announce = false;
  return build_corpus(settings, options);
}

TEST(Corpus, ManifestTellsSourceSettingsAndAudit) {
  const Corpus corpus = quiet(inline_text("a b c"));
  const auto manifest = manifest_json(corpus);
  EXPECT_EQ(manifest["source"]["kind"], "text");
  EXPECT_EQ(manifest["source"]["bytes"], 5);
  EXPECT_EQ(manifest["source"]["sha256"].get<std::string>(), sha256_hex("a b c"));
  EXPECT_EQ(manifest["settings"]["min_count"], 1);
  EXPECT_EQ(manifest["tokenizer"]["fingerprint"].get<std::string>(), corpus.tokenizer->fingerprint());
  EXPECT_EQ(manifest["audit"]["overlap"], 0);
}

TEST(Corpus, ChangedSourceIsRefused) {
  const auto manifest = manifest_json(quiet(inline_text("a b c")));
  require_same_source(manifest, quiet(inline_text("a b c")));
  EXPECT_THROW(require_same_source(manifest, quiet(inline_text("a b d"))), Refusal);
  DataSettings other = inline_text("a b c");
  other.vocabulary = 5;  // the same text, other words
  EXPECT_THROW(require_same_source(manifest, quiet(other)), Refusal);
}

TEST(Corpus, SameBytesGiveTheSameCorpusInEveryLocale) {
  const auto digest = [] { return manifest_json(quiet(inline_text("Élan İ 1,5 ÅB\n\nzwei"))).dump(); };
  const std::string before = digest();
  for (const char* locale : {"C", "de_DE.UTF-8", "tr_TR.UTF-8"}) {
    std::setlocale(LC_ALL, locale);  // where it is installed
    EXPECT_EQ(digest(), before) << locale;
  }
  std::setlocale(LC_ALL, "C");
}

TEST(Corpus, GivenTokenizerIsUsedAsItIs) {
  CorpusOptions options;
  options.tokenizer = quiet(inline_text("the dog")).tokenizer;
  DataSettings settings = inline_text("the cat");
  settings.split = "none";
  const Corpus corpus = quiet(settings, options);
  EXPECT_EQ(corpus.tokenizer, options.tokenizer);
  EXPECT_EQ(corpus.train().ids, (std::vector<int32_t>{1, options.tokenizer->encode("the")[0], 3, 2}));
  EXPECT_EQ(corpus.audit.parts[0].unknown, 1);
}

TEST(Corpus, AListThatIsReadAsOneTextIsHintedAt) {
  const TemporaryFolder folder;
  std::string names;
  for (int i = 0; i < 60; ++i) names += fmt::format("name{}\n", i);
  write_file_atomically(folder / "names.txt", names);
  DataSettings settings;
  settings.path = folder / "names.txt";
  settings.tokenizer = "char";
  settings.split = "none";
  CorpusOptions options;
  options.announce = false;
  EXPECT_THAT(
      build_corpus(settings, options).audit.notes,
      testing::Contains(testing::HasSubstr("names.txt: its 60 short lines are read as one text; --set "
                                           "data.documents=line makes each of them a document")));
  settings.documents = "line";
  EXPECT_TRUE(build_corpus(settings, options).audit.notes.empty());
  settings.documents = "whole";
  EXPECT_TRUE(build_corpus(settings, options).audit.notes.empty());
}

TEST(Corpus, TailIsRefusedForWords) {
  DataSettings settings = inline_text("a");
  settings.split = "tail";
  EXPECT_THROW(quiet(settings), Refusal);
}

/// The numbers the project is measured on (docs/data.md).
TEST(Corpus, FirstStoriesOfTinyStories) {
  const char* folder = std::getenv("TRIL_SHARED");
  const std::string path =
      (folder != nullptr ? folder : TRIL_SOURCE_DIR "/../shared") + std::string("/data/tinystories.txt");
  if (!std::filesystem::exists(path)) GTEST_SKIP() << "no shared data";
  DataSettings settings;
  settings.path = path;
  settings.stories = 480;
  settings.vocabulary = 1500;
  const Corpus corpus = quiet(settings);
  EXPECT_EQ(corpus.train().documents(), 382);
  EXPECT_EQ(corpus.validation().documents(), 42);
  EXPECT_EQ(corpus.test().documents(), 56);
  EXPECT_EQ(Windows(corpus.train(), 12, 0).targets(), 70279);
  EXPECT_EQ(corpus.audit.parts[0].targets, 70279);
  EXPECT_EQ(corpus.tokenizer->vocab_size(), 1500);
  EXPECT_EQ(corpus.tokenizer->token_text(4), ".");  // 4,854 times
  EXPECT_EQ(corpus.tokenizer->token_text(5), "the");
  EXPECT_EQ(corpus.audit.overlap, 0);
  EXPECT_EQ(corpus.audit.documents_rule, "separator");
}

}  // namespace
}  // namespace tril
