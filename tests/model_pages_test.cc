// The pages of docs/formats/ on models for other programs are enough to read what tril writes: readers
// written from huggingface.md, gguf.md, llama2c.md, nanogpt.md, token-bin.md and tokenizer.md alone, with
// none of tril's readers, against files that the library wrote.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tril/base/folder_testing.h"
#include "tril/formats/foreign_testing.h"
#include "tril/formats/llama2c.h"
#include "tril/formats/nanogpt.h"
#include "tril/formats/token_file.h"

namespace {
using nlohmann::json;
using tril::filled_model;
using tril::small_tokenizer;

std::string slurp(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  EXPECT_TRUE(file.good()) << path;
  return {std::istreambuf_iterator<char>(file), {}};
}

// Takes numbers off the front of a file.
struct Bytes {
  std::string all;
  size_t at = 0;
  template <class T>
  T take() {
    T value;
    if (at + sizeof value > all.size()) throw std::runtime_error("the file ends early");
    std::memcpy(&value, all.data() + at, sizeof value);
    at += sizeof value;
    return value;
  }
  std::string text() {
    const auto size = take<uint64_t>();
    at += size;
    return all.substr(at - size, size);
  }
};

const float* weights(const tril::Model& model, const char* name) {
  return model.parameters().value(model.parameters().find(name)).as<float>();
}

// docs/formats/gguf.md
struct PageGguf {
  std::map<std::string, std::string> values;              // as text
  std::map<std::string, std::vector<std::string>> texts;  // arrays of strings
  std::map<std::string, std::vector<int32_t>> integers;   // arrays of i32
  std::map<std::string, std::pair<uint32_t, std::vector<uint64_t>>>
      types;                              // element type and sizes, innermost first
  std::map<std::string, size_t> offsets;  // from the file's start
  std::string bytes;
};

float half(uint16_t bits) {
  const int exponent = bits >> 10 & 31, fraction = bits & 1023;
  const float magnitude = exponent == 0 ? std::ldexp(static_cast<float>(fraction), -24)
                                        : std::ldexp(static_cast<float>(1024 + fraction), exponent - 25);
  return bits & 0x8000 ? -magnitude : magnitude;
}

PageGguf read_gguf(const std::string& bytes) {
  Bytes in{bytes};
  PageGguf file;
  file.bytes = bytes;
  EXPECT_EQ(bytes.substr(0, 4), "GGUF");
  in.at = 4;
  EXPECT_EQ(in.take<uint32_t>(), 3u);
  const auto tensors = in.take<uint64_t>(), keys = in.take<uint64_t>();
  for (uint64_t i = 0; i < keys; ++i) {
    const std::string key = in.text();
    const auto type = in.take<uint32_t>();
    if (type == 4) file.values[key] = std::to_string(in.take<uint32_t>());
    if (type == 6) file.values[key] = std::to_string(in.take<float>());
    if (type == 7) file.values[key] = in.take<uint8_t>() ? "true" : "false";
    if (type == 8) file.values[key] = in.text();
    if (type == 9) {
      const auto element = in.take<uint32_t>();
      const auto count = in.take<uint64_t>();
      for (uint64_t n = 0; n < count; ++n) {
        if (element == 8) file.texts[key].push_back(in.text());
        if (element == 5) file.integers[key].push_back(in.take<int32_t>());
      }
    }
  }
  std::vector<std::pair<std::string, uint64_t>> placed;
  for (uint64_t i = 0; i < tensors; ++i) {
    const std::string name = in.text();
    std::vector<uint64_t> sizes(in.take<uint32_t>());
    for (uint64_t& size : sizes) size = in.take<uint64_t>();
    file.types[name] = {in.take<uint32_t>(), sizes};
    placed.emplace_back(name, in.take<uint64_t>());
  }
  const size_t data = (in.at + 31) / 32 * 32;
  for (const auto& [name, offset] : placed) {
    EXPECT_EQ(offset % 32, 0u);
    file.offsets[name] = data + offset;
  }
  return file;
}

// Element (row, column) of a matrix whose rows are `columns` long, by its type.
float element(const PageGguf& file, const std::string& name, size_t row, size_t column) {
  const auto& [type, sizes] = file.types.at(name);
  const size_t at = row * (sizes.size() > 1 ? sizes[0] : 0) + column;
  const char* const start = file.bytes.data() + file.offsets.at(name);
  if (type == 0) {
    float value;
    std::memcpy(&value, start + 4 * at, 4);
    return value;
  }
  uint16_t bits;
  if (type == 1) {
    std::memcpy(&bits, start + 2 * at, 2);
    return half(bits);
  }
  EXPECT_EQ(type, 8u);
  const char* const block = start + at / 32 * 34;
  std::memcpy(&bits, block, 2);
  return half(bits) * static_cast<float>(static_cast<signed char>(block[2 + at % 32]));
}

TEST(ModelPages, AreEnoughToReadAGguf) {
  const tril::TemporaryFolder folder;
  tril::ModelConfig config = tril::small_llama(270);
  config.d_model = 32;
  config.hidden = 64;
  const auto model = filled_model(config);
  const auto tokenizer = small_tokenizer();
  for (const char* type : {"F32", "F16", "Q8_0"}) {
    tril::export_gguf(tril::exported(*model, *tokenizer), folder / "m.gguf", type);
    const PageGguf file = read_gguf(slurp(folder / "m.gguf"));
    EXPECT_EQ(file.values.at("general.architecture"), "llama");
    EXPECT_EQ(file.values.at("llama.embedding_length"), "32");
    EXPECT_EQ(file.values.at("llama.attention.head_count_kv"), "1");
    EXPECT_EQ(file.values.at("llama.rope.dimension_count"), "16");
    EXPECT_EQ(file.values.at("tokenizer.ggml.pre"), "gpt-2");
    EXPECT_EQ(file.values.at("tokenizer.ggml.eos_token_id"), "269");
    EXPECT_EQ(file.texts.at("tokenizer.ggml.tokens").size(), 270u);
    EXPECT_EQ(file.texts.at("tokenizer.ggml.tokens")[269], "<|endoftext|>");
    EXPECT_EQ(file.integers.at("tokenizer.ggml.token_type")[269], 3);
    EXPECT_EQ(file.integers.at("tokenizer.ggml.token_type")[0], 1);
    // rows 2i and 2i + 1 of a head are the parameter's i and i + half; a head has 16
    const float step = std::string(type) == "F32" ? 0.0F : 0.005F;
    const float* const q = weights(*model, "blocks.1.attention.W_Q.weight");
    EXPECT_NEAR(element(file, "blk.1.attn_q.weight", 16 + 2 * 3 + 1, 5), q[(16 + 3 + 8) * 32 + 5], step);
    const float* const down = weights(*model, "blocks.0.mlp.down.weight");
    EXPECT_NEAR(element(file, "blk.0.ffn_down.weight", 7, 33), down[7 * 64 + 33], step);
    EXPECT_EQ(element(file, "output_norm.weight", 0, 4), weights(*model, "final_norm.weight")[4]);
    EXPECT_EQ(file.offsets.count("output.weight"), 1u);
  }
}

struct PageTensors {
  json header;
  std::string data;
  float at(const std::string& name, size_t i) const {
    float value;
    std::memcpy(&value, data.data() + header.at(name).at("data_offsets").at(0).get<size_t>() + 4 * i, 4);
    return value;
  }
};

PageTensors read_safetensors(const std::string& bytes) {
  Bytes in{bytes};
  const auto length = in.take<uint64_t>();
  return {json::parse(bytes.substr(8, length)), bytes.substr(8 + length)};
}

TEST(ModelPages, AreEnoughToReadAHuggingFaceFolder) {
  const tril::TemporaryFolder folder;
  const auto model = filled_model(tril::small_gpt2(270));
  tril::export_hf(tril::exported(*model, *small_tokenizer()), folder / "hf");
  const json config = json::parse(slurp(folder / "hf/config.json"));
  EXPECT_EQ(config["model_type"], "gpt2");
  EXPECT_EQ(config["n_embd"], 4);
  EXPECT_EQ(config["n_inner"], 6);
  EXPECT_EQ(config["activation_function"], "gelu_new");
  EXPECT_EQ(json::parse(slurp(folder / "hf/generation_config.json"))["eos_token_id"], 269);
  const PageTensors file = read_safetensors(slurp(folder / "hf/model.safetensors"));
  EXPECT_EQ(file.header.at("__metadata__"), (json{{"format", "pt"}}));
  EXPECT_EQ(file.header.count("lm_head.weight"), 0u);
  EXPECT_EQ(file.header.at("transformer.h.0.attn.c_attn.weight").at("shape"), (json{4, 12}));
  const float* const k = weights(*model, "blocks.0.attention.W_K.weight");
  EXPECT_EQ(file.at("transformer.h.0.attn.c_attn.weight", 1 * 12 + 4 + 2), k[2 * 4 + 1]);
  const float* const up = weights(*model, "blocks.1.mlp.up.weight");
  EXPECT_EQ(file.at("transformer.h.1.mlp.c_fc.weight", 3 * 6 + 5), up[5 * 4 + 3]);
}

TEST(ModelPages, AreEnoughToReadNanoGptsWeights) {
  const tril::TemporaryFolder folder;
  tril::ModelConfig config = tril::small_gpt2(270);
  config.activation = "gelu";
  config.hidden = 16;
  const auto model = filled_model(config);
  tril::export_nanogpt(tril::exported(*model, *small_tokenizer()), folder / "m.safetensors");
  const PageTensors file = read_safetensors(slurp(folder / "m.safetensors"));
  const json arguments = json::parse(file.header.at("__metadata__").at("model_args").get<std::string>());
  EXPECT_EQ(arguments["n_head"], 2);
  EXPECT_EQ(arguments["bias"], true);
  const float* const v = weights(*model, "blocks.0.attention.W_V.weight");
  EXPECT_EQ(file.at("transformer.h.0.attn.c_attn.weight", (8 + 1) * 4 + 2), v[1 * 4 + 2]);
}

TEST(ModelPages, AreEnoughToReadALlama2c) {
  const tril::TemporaryFolder folder;
  const auto model = filled_model(tril::small_llama(270));
  tril::export_llama2c(tril::exported(*model, *small_tokenizer()), folder / "m.bin");
  Bytes in{slurp(folder / "m.bin")};
  int32_t h[7];
  for (int32_t& value : h) value = in.take<int32_t>();
  const auto [dim, hidden, layers, heads, kv_heads, vocabulary, length] = std::to_array(h);
  EXPECT_EQ(vocabulary, -270);
  const size_t kv = static_cast<size_t>(dim / heads * kv_heads), d = static_cast<size_t>(dim);
  const size_t l = static_cast<size_t>(layers), ff = static_cast<size_t>(hidden);
  const auto table = [&](size_t rows, size_t columns) {
    std::vector<float> numbers;
    for (size_t i = 0; i < rows * columns; ++i) numbers.push_back(in.take<float>());
    return numbers;
  };
  const auto tokens = table(270, d);
  table(l, d);
  const auto q = table(l * d, d), k = table(l * kv, d);
  table(l * kv, d), table(l * d, d), table(l, d);
  const auto gate = table(l * ff, d), down = table(l * d, ff), up = table(l * ff, d);
  table(1, d);
  const auto cosines = table(static_cast<size_t>(length), d / static_cast<size_t>(heads) / 2);
  table(static_cast<size_t>(length), d / static_cast<size_t>(heads) / 2);
  const auto head = table(270, d);
  EXPECT_EQ(in.at, in.all.size());
  EXPECT_EQ(tokens[9], weights(*model, "token_embedding.weight")[9]);
  EXPECT_EQ(q[(8 + 1) * d],
            weights(*model, "blocks.1.attention.W_Q.weight")[2 * 8]);  // row 1 is i + half of pair 0
  EXPECT_EQ(k[kv * d], weights(*model, "blocks.1.attention.W_K.weight")[0]);
  EXPECT_EQ(gate[ff * d + 3], weights(*model, "blocks.1.mlp.gate.weight")[3]);
  EXPECT_EQ(down[3], weights(*model, "blocks.0.mlp.down.weight")[3]);
  EXPECT_EQ(up[3], weights(*model, "blocks.0.mlp.up.weight")[3]);
  EXPECT_NEAR(cosines[2 * 1], std::cos(1.0), 1e-6);
  EXPECT_EQ(head.back(), weights(*model, "head.weight")[270 * 8 - 1]);
}

TEST(ModelPages, AreEnoughToReadTokenIds) {
  const tril::TemporaryFolder folder;
  tril::write_token_file(folder / "t.bin", std::vector<int32_t>{5, 70000}, 32);
  Bytes in{slurp(folder / "t.bin")};
  EXPECT_EQ(in.take<uint32_t>(), 5u);
  EXPECT_EQ(in.take<uint32_t>(), 70000u);
  EXPECT_EQ(in.at, in.all.size());
}

// docs/formats/tokenizer.md: the byte alphabet, then merges in their order, for one piece without blanks.
TEST(ModelPages, AreEnoughToEncodeAWord) {
  const auto tokenizer = small_tokenizer();
  const json file = json::parse(tokenizer->to_json());
  std::map<std::string, int> rank;
  for (const json& merge : file["model"]["merges"]) rank.emplace(merge.get<std::string>(), rank.size());
  for (const std::string word :
       {"the", "that", "hat", "xyz"}) {  // plain ASCII stands for itself in the alphabet
    std::vector<std::string> parts;
    for (const char c : word) parts.emplace_back(1, c);
    while (true) {
      size_t best = parts.size();
      for (size_t i = 0; i + 1 < parts.size(); ++i) {
        const auto found = rank.find(parts[i] + " " + parts[i + 1]);
        if (found == rank.end()) continue;
        if (best == parts.size() || found->second < rank.at(parts[best] + " " + parts[best + 1])) best = i;
      }
      if (best == parts.size()) break;
      parts[best] += parts[best + 1];
      parts.erase(parts.begin() + static_cast<std::ptrdiff_t>(best) + 1);
    }
    std::vector<int32_t> ids;
    for (const std::string& part : parts) ids.push_back(file["model"]["vocab"].at(part));
    EXPECT_EQ(tokenizer->encode(word), ids) << word;
  }
}

}  // namespace
