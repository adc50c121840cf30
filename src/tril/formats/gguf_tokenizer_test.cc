#include "tril/formats/gguf_tokenizer.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <nlohmann/json.hpp>

#include "tril/base/file.h"
#include "tril/base/folder_testing.h"
#include "tril/formats/foreign_testing.h"
#include "tril/text/char_tokenizer.h"
#include "tril/text/load_tokenizer.h"
#include "tril/text/word_tokenizer.h"

namespace tril {
namespace {

constexpr const char* kTexts[] = {"the cat", "  two  blanks\n\n", "it's 12345 o'clock", "naïve 中文 🙂",
                                  ""};

std::string write(const TemporaryFolder& folder, const GgufWriter& writer) {
  write_file_atomically(folder / "t.gguf",
                        [&](FileWriter& file) { writer.write(file, [](size_t, std::span<float>) {}); });
  return folder / "t.gguf";
}

// Case 36: the rule that the file names is the one that the tokenizer splits by.
TEST(GgufTokenizer, ComesBackWithTheSameIds) {
  const TemporaryFolder folder;
  for (const SplitPattern pattern : {SplitPattern::kGpt2, SplitPattern::kGpt4}) {
    const auto tokenizer = small_tokenizer(pattern);
    GgufWriter writer;
    write_gguf_tokenizer(writer, *tokenizer, {std::nullopt, {269}}, "runs/x");
    const GgufFile file(write(folder, writer));
    EXPECT_EQ(std::get<std::string_view>(*file.find("tokenizer.ggml.pre")),
              pattern == SplitPattern::kGpt2 ? "gpt-2" : "dbrx");
    const GgufTokenizer read = read_gguf_tokenizer(file);
    EXPECT_EQ(read.ends.ends, (std::vector<int32_t>{269}));
    EXPECT_EQ(read.tokenizer->vocab_size(), tokenizer->vocab_size());
    EXPECT_EQ(read.tokenizer->bos(), std::nullopt);
    for (const char* text : kTexts) EXPECT_EQ(read.tokenizer->encode(text), tokenizer->encode(text)) << text;
  }
}

// Case 36, over every text of the fixtures, whatever its bytes.
TEST(GgufTokenizer, SharedTextsHaveTheSameIds) {
  const char* given = std::getenv("TRIL_SHARED");
  const std::string shared = given != nullptr ? given : TRIL_SOURCE_DIR "/../shared";
  if (!folder_exists(shared + "/fixtures/text")) GTEST_SKIP() << "no shared data";
  const TemporaryFolder folder;
  for (const SplitPattern pattern : {SplitPattern::kGpt2, SplitPattern::kGpt4}) {
    const auto tokenizer = small_tokenizer(pattern);
    GgufWriter writer;
    write_gguf_tokenizer(writer, *tokenizer, {std::nullopt, {269}}, "runs/x");
    const GgufTokenizer read = read_gguf_tokenizer(GgufFile(write(folder, writer)));
    for (const std::string& name : list_folder(shared + "/fixtures/text")) {
      const std::string text = read_file(shared + "/fixtures/text/" + name);
      EXPECT_EQ(read.tokenizer->encode(text), tokenizer->encode(text)) << name;
    }
  }
}

// Case 36: a rule that llama.cpp has no name for is refused, as its ids would differ.
TEST(GgufTokenizer, ASplitRuleWithoutANameIsRefused) {
  nlohmann::json file = nlohmann::json::parse(small_tokenizer()->to_json());
  file["pre_tokenizer"] = nlohmann::json::parse(R"({"type": "Sequence", "pretokenizers": [
      {"type": "Split", "pattern": {"Regex": "[a-z]+"}, "behavior": "Isolated", "invert": false},
      {"type": "ByteLevel", "add_prefix_space": false, "trim_offsets": true, "use_regex": false}]})");
  const auto tokenizer = parse_tokenizer(file.dump(), "t.json");
  EXPECT_EQ(tokenizer->decode(tokenizer->encode("the cat 12")), "the cat 12");
  GgufWriter writer;
  const std::string told = refusal_of([&] { write_gguf_tokenizer(writer, *tokenizer, {}, "runs/x"); });
  EXPECT_NE(told.find("llama.cpp has no name for the rule by which this tokenizer cuts text"),
            std::string::npos)
      << told;
}

// Case 36: what has no name there is refused with the reason.
TEST(GgufTokenizer, CharactersOfOneByteGoOut) {
  const TemporaryFolder folder;
  const CharTokenizer ascii({U'\n', U' ', U'a', U'b'}), wide({U'a', U'é'});
  GgufWriter writer;
  write_gguf_tokenizer(writer, ascii, {}, "runs/x");
  const GgufTokenizer read = read_gguf_tokenizer(GgufFile(write(folder, writer)));
  EXPECT_EQ(read.tokenizer->encode("ab ba\n"), ascii.encode("ab ba\n"));
  EXPECT_NE(refusal_of([&] {
              write_gguf_tokenizer(writer, wide, {}, "runs/x");
            }).find("beyond ASCII (this one has 'é')"),
            std::string::npos);
  EXPECT_EQ(refusal_of([&] { write_gguf_tokenizer(writer, WordTokenizer({"a"}), {}, "runs/x"); }),
            "runs/x: llama.cpp has no word tokenizer; export it with --to hf or safetensors");
}

// The keys of a vocabulary of three letters, with a change.
std::string refusal_with(const std::function<void(GgufWriter&)>& change) {
  const TemporaryFolder folder;
  GgufWriter writer;
  change(writer);
  const std::string path = write(folder, writer);
  const std::string told = refusal_of([&] { read_gguf_tokenizer(GgufFile(path)); });
  return told.empty() ? told : told.substr(path.size() + 2);
}

void letters(GgufWriter& w, const std::string& pre = "gpt-2",
             const std::vector<std::string>& merges = {"a b"},
             const std::vector<int32_t>& types = {1, 1, 1, 3}) {
  w.text("tokenizer.ggml.model", "gpt2");
  w.text("tokenizer.ggml.pre", pre);
  w.texts("tokenizer.ggml.tokens", std::vector<std::string>{"a", "b", "ab", "<s>"});
  w.i32s("tokenizer.ggml.token_type", types);
  w.texts("tokenizer.ggml.merges", merges);
}

TEST(GgufTokenizer, PutsTheBeginningWhereTheFileAsksForIt) {
  const TemporaryFolder folder;
  GgufWriter writer;
  letters(writer);
  writer.u32("tokenizer.ggml.bos_token_id", 3);
  writer.flag("tokenizer.ggml.add_bos_token", true);
  const GgufTokenizer read = read_gguf_tokenizer(GgufFile(write(folder, writer)));
  EXPECT_EQ(read.tokenizer->bos(), 3);
  EXPECT_EQ(read.tokenizer->encode("aba"), (std::vector<int32_t>{2, 0}));
}

// A control token's bytes are kept as they are, in a tokenizer.json, which is UTF-8.
TEST(GgufTokenizer, RefusesTokensThatAreNoText) {
  for (const char* token : {"<\xff>", "<\xc3", "\xed\xa0\x80"}) {
    const std::string told = refusal_with([&](GgufWriter& w) {
      w.text("tokenizer.ggml.model", "gpt2");
      w.text("tokenizer.ggml.pre", "gpt-2");
      w.texts("tokenizer.ggml.tokens", std::vector<std::string>{"a", "b", token});
      w.i32s("tokenizer.ggml.token_type", std::vector<int32_t>{1, 1, 3});
      w.texts("tokenizer.ggml.merges", std::vector<std::string>{});
      w.u32("tokenizer.ggml.bos_token_id", 2);
      w.flag("tokenizer.ggml.add_bos_token", true);
    });
    EXPECT_TRUE(told.starts_with("tokenizer.ggml.tokens: token 2, '")) << told;
    EXPECT_NE(told.find("is not valid UTF-8 at its byte"), std::string::npos) << told;
  }
}

TEST(GgufTokenizer, RefusesByKey) {
  using W = GgufWriter;
  EXPECT_EQ(refusal_with([](W& w) { w.text("tokenizer.ggml.model", "llama"); }),
            "tokenizer.ggml.model is 'llama'; tril reads gpt2, which is byte-level BPE");
  EXPECT_NE(
      refusal_with([](W& w) { letters(w, "quantum"); }).find("the pre-tokenizer 'quantum' is not supported"),
      std::string::npos);
  EXPECT_EQ(refusal_with([](W& w) { letters(w, "gpt-2", {"a c"}); }),
            "tokenizer.ggml.merges: merge 0 (counted from 0), 'a c', uses 'c', which is no token");
  EXPECT_EQ(refusal_with([](W& w) {
              letters(w, "gpt-2", {"a b"}, {1, 1, 3, 3});
            }),
            "tokenizer.ggml.merges: merge 0 (counted from 0) uses 'ab', which is a control or added token");
  EXPECT_EQ(refusal_with([](W& w) {
              letters(w, "gpt-2", {}, {1, 1, 1});
            }),
            "tokenizer.ggml.token_type has 3 elements, there are 4 tokens");
  EXPECT_EQ(refusal_with([](W& w) {
              letters(w, "gpt-2", {}, {1, 1, 1, 9});
            }),
            "tokenizer.ggml.token_type: token 3 is of type 9, 1 to 6 are known");
  EXPECT_EQ(refusal_with([](W& w) {
              letters(w);
              w.u32("tokenizer.ggml.eos_token_id", 4);
            }),
            "tokenizer.ggml.eos_token_id is 4; the id of one of 4 tokens is needed");
  EXPECT_EQ(refusal_with([](W& w) {
              letters(w);
              w.flag("tokenizer.ggml.add_eos_token", true);
            }),
            "tokenizer.ggml.add_eos_token is true; tril puts no end token behind a prompt");
}

}  // namespace
}  // namespace tril
