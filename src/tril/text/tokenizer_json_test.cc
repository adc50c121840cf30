#include "tril/text/tokenizer_json.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <vector>

#include "tril/base/file.h"
#include "tril/base/hash.h"
#include "tril/text/load_tokenizer.h"
#include "tril/text/normalize.h"
#include "tril/text/words.h"

namespace tril {
namespace {

const std::string kTests = TRIL_SOURCE_DIR "/tests/";

nlohmann::json stored() {
  return nlohmann::json::parse(read_file(kTests + "parity/hf_word_tokenizer.json"));
}

TEST(TokenizerJson, StoredIdsBelongToTheFilesAndTheVersionPinned) {
  const auto numbers = stored();
  for (const auto& [file, hash] : numbers["files"].items()) {
    EXPECT_EQ(sha256_hex(read_file(kTests + "data/" + file)), hash.get<std::string>()) << file;
    // The file is what tril writes today, byte for byte.
    EXPECT_EQ(load_tokenizer(kTests + "data/" + file)->to_json(), read_file(kTests + "data/" + file)) << file;
  }
  const std::string pins = read_file(kTests + "parity/requirements.txt");
  EXPECT_NE(pins.find("tokenizers==" + numbers["tokenizers"].get<std::string>() + "\n"), std::string::npos);
}

// Case 11, of words: the file is read back, here and by Hugging Face.
TEST(TokenizerJson, WordsAgreeWithHuggingFaceTokenizers) {
  const auto tokenizer = load_tokenizer(kTests + "data/word_tokenizer.json");
  const auto numbers = stored();
  ASSERT_GT(numbers["word"].size(), 300u);
  for (const auto& one : numbers["word"]) {
    const auto text = one["text"].get<std::string>();
    const std::string normal = normalize(text);
    std::vector<std::string> pieces;
    WordScanner scanner(normal);
    for (std::string_view token; scanner.next(token);) pieces.emplace_back(token);
    EXPECT_EQ(pieces, one["pieces"].get<std::vector<std::string>>()) << one["text"].dump(-1, ' ', true);
    EXPECT_EQ(tokenizer->encode(text), one["ids"].get<std::vector<int32_t>>())
        << one["text"].dump(-1, ' ', true);
  }
}

TEST(TokenizerJson, CharactersAgreeWithHuggingFaceTokenizers) {
  const auto tokenizer = load_tokenizer(kTests + "data/char_tokenizer.json");
  const auto numbers = stored();
  for (const auto& one : numbers["char"]) {
    const auto text = one["text"].get<std::string>();
    EXPECT_EQ(tokenizer->encode(text), one["ids"].get<std::vector<int32_t>>());
    EXPECT_EQ(one["decoded"].get<std::string>(), text);  // what the other program makes of the ids
  }
}

}  // namespace
}  // namespace tril
