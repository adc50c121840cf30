#include "tril/text/tokenizer_json_bpe.h"

#include <gtest/gtest.h>

#include "tril/text/bpe_testing.h"

namespace tril {
namespace {

using namespace bpe_testing;

/// The refusal of the small file with a change made to it.
std::string why(const auto& change) {
  Json file = small_file();
  change(file);
  return refusal([&] { load(file); });
}

// Case 9: merges as text and as pairs.
TEST(TokenizerJsonBpe, MergesAsTextAndAsPairs) {
  Json file = small_file();
  Json pairs = file;
  pairs["model"]["merges"] = Json::parse(R"([["h","e"],["l","l"],["he","ll"],["hell","o"],["Ġ","w"]])");
  EXPECT_EQ(load(file)->encode("hello world"), load(pairs)->encode("hello world"));
  EXPECT_EQ(load(file)->to_json(), load(pairs)->to_json());
  EXPECT_NE(load(file)->to_json().find("\"he ll\""), std::string::npos);
}

// Cases 9 and 11: merges whose parts hold blanks.
TEST(TokenizerJsonBpe, PairsWithBlanksStayPairsWhenSaved) {
  Json file = small_file();
  for (const char* token : {"a b", " c", "a b c"})
    file["model"]["vocab"][token] = file["model"]["vocab"].size() + 1;
  file["model"]["merges"] = Json::parse(R"([["h","e"],["a b"," c"]])");
  const auto tokenizer = load(file);
  const std::string saved = tokenizer->to_json();
  EXPECT_NE(saved.find("[\"a b\", \" c\"]"), std::string::npos);
  EXPECT_NE(saved.find("[\"h\", \"e\"]"), std::string::npos);
  const auto again = parse_tokenizer(saved, "saved.json");
  EXPECT_EQ(again->to_json(), saved);
  EXPECT_EQ(again->encode("he a b c"), tokenizer->encode("he a b c"));
}

// Case 11, of BPE.
TEST(TokenizerJsonBpe, WhatIsSavedIsReadBackTheSame) {
  Json file = small_file();
  file["added_tokens"].push_back(
      {{"id", 262}, {"content", "\"\\\u00E9\n"}, {"special", false}, {"lstrip", true}});
  file["post_processor"] = Json::parse(R"({"type": "TemplateProcessing", "single":
      [{"SpecialToken": {"id": "<|endoftext|>", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}}],
      "pair": [], "special_tokens": {}})");
  const auto tokenizer = load(file);
  EXPECT_EQ(tokenizer->bos(), 261);
  const auto again = parse_tokenizer(tokenizer->to_json(), "t.json");
  EXPECT_EQ(again->to_json(), tokenizer->to_json());
  EXPECT_EQ(again->fingerprint(), tokenizer->fingerprint());
  EXPECT_EQ(again->bos(), 261);
  EXPECT_EQ(again->vocab_size(), 263);
}

TEST(TokenizerJsonBpe, IdsAreChecked) {
  const auto with = [](const Json& id) {
    return why([&](Json& file) { file["model"]["vocab"]["he"] = id; });
  };
  EXPECT_EQ(with(97), "t.json: id 97 is used by \"a\" and \"he\"");
  EXPECT_EQ(with(-1), "t.json: the id of \"he\" is -1; ids start at 0");
  EXPECT_EQ(with(262.5), "t.json: the id of \"he\" is 262.5, not an integer");
  EXPECT_EQ(with("7"), "t.json: the id of \"he\" is \"7\", not an integer");
  EXPECT_EQ(with(4'000'000'000u),
            "t.json: the id of \"he\" is 4000000000, far above the 261 tokens of the file");
  EXPECT_EQ(with(261), "t.json: id 261 is used by \"he\" and \"<|endoftext|>\"");
}

TEST(TokenizerJsonBpe, MergesAreCheckedAndNumbered) {
  const auto with = [](const Json& merge) {
    return why([&](Json& file) { file["model"]["merges"].push_back(merge); });
  };
  EXPECT_EQ(with("zz qq"), "t.json: merge 5 (counted from 0) uses \"zz\", which is not in the vocabulary");
  EXPECT_EQ(with("h h"), "t.json: merge 5 (counted from 0) uses \"hh\", which is not in the vocabulary");
  for (const char* bad :
       {R"("he")", R"("a b c")", R"("")", R"(["a"])", R"(["a", 1])", R"(["a", "b", "c"])", "7"}) {
    EXPECT_NE(with(Json::parse(bad)).find("t.json: merge 5 (counted from 0) is "), std::string::npos) << bad;
  }
}

TEST(TokenizerJsonBpe, AddedTokensAreChecked) {
  const auto with = [](const Json& token) {
    return why([&](Json& file) { file["added_tokens"].push_back(token); });
  };
  EXPECT_EQ(with({{"id", 7}, {"content", "he"}}),
            "t.json: \"he\" has id 256 in model.vocab and 7 in added_tokens");
  EXPECT_EQ(with({{"id", 97}, {"content", "<x>"}}), "t.json: id 97 is used by \"a\" and \"<x>\"");
  EXPECT_NE(with({{"content", "<x>"}}).find("the id of \"<x>\" is null"), std::string::npos);
  EXPECT_NE(with({{"id", 300}}).find("without content"), std::string::npos);
  EXPECT_NE(with(7).find("without content"), std::string::npos);
}

TEST(TokenizerJsonBpe, WhatTrilDoesNotHaveIsRefusedByName) {
  const auto model = [](const char* key, const Json& value) {
    return why([&](Json& file) { file["model"][key] = value; });
  };
  EXPECT_NE(model("byte_fallback", true).find("byte_fallback"), std::string::npos);
  EXPECT_NE(model("dropout", 0.1).find("model.dropout is 0.1"), std::string::npos);
  EXPECT_NE(model("end_of_word_suffix", "</w>").find("\"</w>\""), std::string::npos);
  EXPECT_NE(model("unk_token", "<none>").find("\"<none>\""), std::string::npos);
  EXPECT_NE(model("merges", nullptr).find("model.merges"), std::string::npos);
  EXPECT_NE(model("vocab", Json::array()).find("model.vocab"), std::string::npos);
  EXPECT_NE(why([](Json& file) {
              file["pre_tokenizer"] = {{"type", "QuantumSplit"}, {"x", 1}};
            }).find("'QuantumSplit'"),
            std::string::npos);
  EXPECT_NE(why([](Json& file) { file["normalizer"] = {{"type", "NFC"}}; }).find("'NFC'"), std::string::npos);
}

TEST(TokenizerJsonBpe, AHostilePatternEndsInARefusal) {
  Json file = small_file();
  file["pre_tokenizer"] = Json::parse(R"({"type": "Sequence", "pretokenizers": [
      {"type": "Split", "pattern": {"Regex": "(a+)+$"}, "behavior": "Isolated", "invert": false},
      {"type": "ByteLevel", "add_prefix_space": false, "use_regex": false}]})");
  const auto tokenizer = load(file);
  EXPECT_NE(refusal([&] { tokenizer->encode(std::string(100, 'a') + "b"); }).find("takes too long"),
            std::string::npos);
  EXPECT_EQ(tokenizer->encode("aab").size(), 3u);
}

// tests/parity/hf_bpe.py gave the file that tril wrote to Hugging Face's program.
TEST(TokenizerJsonBpe, HuggingFaceReadsTheFileAndGivesTheSameIds) {
  const std::string tests = TRIL_SOURCE_DIR "/tests/";
  const Json numbers = Json::parse(read_file(tests + "parity/hf_bpe.json"));
  const std::string file = read_file(tests + "data/bpe_tokenizer.json");
  ASSERT_EQ(sha256_hex(file), numbers["written"]["file_sha256"].get<std::string>());
  const auto tokenizer =
      std::dynamic_pointer_cast<const BpeTokenizer>(parse_tokenizer(file, "bpe_tokenizer.json"));
  EXPECT_EQ(tokenizer->to_json(), file);  // the file is what tril writes today, byte for byte
  for (size_t i = 0; i < numbers["texts"].size(); ++i) {
    const auto text = numbers["texts"][i].get<std::string>();
    EXPECT_EQ(digest(tokenizer->encode(text)), numbers["written"]["as_text"][i].get<std::string>()) << text;
    EXPECT_EQ(digest(tokenizer->encode(text, Specials::kAsTokens)),
              numbers["written"]["as_tokens"][i].get<std::string>())
        << text;
  }
}

TEST(TokenizerJsonBpe, SharedFixtures) {
  if (shared_folder(TRIL_SOURCE_DIR).empty()) GTEST_SKIP() << "no shared data";
  const auto path = [](const std::string& name) {
    return shared_folder(TRIL_SOURCE_DIR) + "/fixtures/tok/" + name;
  };
  const auto ids = [&](const std::string& name) { return load_tokenizer(path(name))->encode("hello world"); };
  const Ids expected = {259, 260, 111, 114, 108, 100};
  for (const char* name : {"ok_merges_str.json", "ok_merges_pairs.json", "pair_with_space.json",
                           "ignore_merges.json", "bom.json", "added_tokens_outside_vocab.json"}) {
    EXPECT_EQ(ids(name), expected) << name;
  }
  const auto spaced = load_tokenizer(path("pair_with_space.json"));
  EXPECT_NE(spaced->to_json().find("[\"a b\", \" c\"]"), std::string::npos);
  const auto added =
      std::dynamic_pointer_cast<const BpeTokenizer>(load_tokenizer(path("added_tokens_outside_vocab.json")));
  EXPECT_EQ(added->vocab_size(), 264);
  EXPECT_EQ(added->encode("a <bos>x", Specials::kAsTokens), (Ids{97, 263}));
  EXPECT_EQ(added->encode("<bos>y", Specials::kAsTokens), (Ids{262, 121}));
  EXPECT_EQ(added->encode("<bos>y").size(), 6u);
  const std::pair<const char*, const char*> refused[] = {
      {"merge_not_in_vocab.json", "merge 5 (counted from 0) uses \"zz\""},
      {"dup_ids.json", "id 97 is used by \"a\" and \"he\""},
      {"id_negative.json", "is -1; ids start at 0"},
      {"id_float.json", "262.5, not an integer"},
      {"unknown_pretok.json", "'QuantumSplit' is not supported"},
      {"regex_redos.json", "no ByteLevel"},
      {"byte_fallback.json", "byte_fallback"},
      {"model_unigram.json", "Unigram"},
      {"model_wordlevel.json", "WordLevel"},
      {"utf16.json", "UTF-16"}};
  for (const auto& [name, reason] : refused) {
    const std::string text = refusal([&, file = path(name)] { load_tokenizer(file); });
    EXPECT_NE(text.find(reason), std::string::npos) << name << ": " << text;
    EXPECT_NE(text.find(name), std::string::npos) << text;
  }
}

}  // namespace
}  // namespace tril
