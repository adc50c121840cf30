// What the tests of BPE share: small tokenizers made in memory, hostile texts, and the shared fixtures where
// they are. It leaves out any check.
#pragma once
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <vector>

#include "tril/base/error.h"
#include "tril/base/file.h"
#include "tril/base/hash.h"
#include "tril/text/bpe.h"
#include "tril/text/byte_level.h"
#include "tril/text/load_tokenizer.h"
#include "tril/text/pre_tokenizer_json.h"

namespace tril::bpe_testing {

using Json = nlohmann::ordered_json;
using Ids = std::vector<int32_t>;

/// A tokenizer.json whose ids of single bytes are the byte values, with the merges h e, l l, he ll, hell o, Ġ
/// w (ids 256 to 260) and <|endoftext|> as 261.
inline Json small_file() {
  Json vocabulary;
  for (int b = 0; b < 256; ++b) vocabulary[to_byte_level(std::string(1, static_cast<char>(b)))] = b;
  int id = 256;
  for (const char* token : {"he", "ll", "hell", "hello", "\u0120w"}) vocabulary[token] = id++;
  return {
      {"version", "1.0"},
      {"added_tokens", {{{"id", 261}, {"content", "<|endoftext|>"}, {"special", true}}}},
      {"normalizer", nullptr},
      {"pre_tokenizer", Json::parse(byte_level_json())},
      {"post_processor", nullptr},
      {"decoder", Json::parse(byte_level_json())},
      {"model",
       {{"type", "BPE"}, {"vocab", vocabulary}, {"merges", {"h e", "l l", "he ll", "hell o", "\u0120 w"}}}}};
}

inline std::shared_ptr<const BpeTokenizer> load(const Json& file) {
  return std::dynamic_pointer_cast<const BpeTokenizer>(parse_tokenizer(file.dump(), "t.json"));
}

inline std::string refusal(const auto& act) {
  try {
    act();
  } catch (const Refusal& refusal) {
    return refusal.what();
  }
  return "no refusal";
}

/// Bytes that are no text at all, half text, and text cut anywhere.
inline std::vector<std::string> hostile_bytes(int count) {
  std::mt19937 random(11);
  const std::vector<std::string> parts = {"hello",
                                          " w",
                                          "\n",
                                          "  ",
                                          "'ll",
                                          "123",
                                          "\u00E9",
                                          "\u4E00\u4E8C",
                                          "\U0001F468\u200D\U0001F469",
                                          "e\u0301",
                                          "<|endoftext|>",
                                          "\xFF",
                                          "\xE2\x82",
                                          "\xED\xA0\x80",
                                          std::string(1, '\0'),
                                          "\r\n"};
  std::vector<std::string> texts = {""};
  for (int i = 0; i < count; ++i) {
    std::string text;
    for (unsigned n = random() % 20; n > 0; --n) {
      if (random() % 3) {
        text += parts[random() % parts.size()];
      } else {
        text += static_cast<char>(random() % 256);
      }
    }
    texts.push_back(text);
  }
  return texts;
}

inline std::string digest(const Ids& ids) {
  std::string bytes;
  for (const int32_t id : ids) {
    for (int shift = 0; shift < 32; shift += 8) bytes += static_cast<char>(id >> shift & 0xFF);
  }
  return sha256_hex(bytes);
}

/// The shared folder of data and fixtures beside the checkout, or "" where a user has none.
inline std::string shared_folder(const std::string& checkout) {
  const char* named = std::getenv("TRIL_SHARED");
  const std::string folder = named ? named : checkout + "/../shared";
  return std::filesystem::is_directory(folder) ? folder : "";
}

}  // namespace tril::bpe_testing
