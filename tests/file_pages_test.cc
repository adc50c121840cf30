// The pages of docs/formats/ on files for other programs: readers written from the pages alone, with nothing
// of tril's own code, against what the library writes. Runs and checkpoints are in format_pages_test.cc.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "page_readers.h"
#include "tril/base/folder_testing.h"
#include "tril/formats/foreign_testing.h"
#include "tril/formats/llama2c.h"
#include "tril/formats/nanogpt.h"
#include "tril/formats/token_file.h"

namespace tril {
namespace {
using nlohmann::json;
using tril_pages::float_at;
using tril_pages::PageFile;
using tril_pages::read_safetensors;
using tril_pages::slurp;

using Rows = std::vector<std::vector<float>>;

Rows rows_of(const Model& model, const std::string& name) {
  const int i = model.parameters().find(name);
  EXPECT_GE(i, 0) << name;
  const Tensor value = model.parameters().value(i);
  const int64_t columns = value.shape.rank() == 1 ? value.count() : value.shape[1];
  Rows rows;
  for (int64_t at = 0; at < value.count(); at += columns)
    rows.emplace_back(value.as<float>() + at, value.as<float>() + at + columns);
  return rows;
}

Rows rows_at(const std::string& bytes, size_t& at, size_t count, size_t columns) {
  Rows rows;
  for (size_t r = 0; r < count; ++r) {
    rows.emplace_back();
    for (size_t c = 0; c < columns; ++c) rows.back().push_back(float_at(bytes.substr(at + 4 * c, 4), 0));
    at += 4 * columns;
  }
  return rows;
}

// Rows 2i and 2i + 1 of a head in the file are rows i and i + half of the model.
Rows from_pairs(const Rows& file, size_t heads) {
  Rows rows(file.size());
  const size_t head = file.size() / heads, half = head / 2;
  for (size_t h = 0; h < heads; ++h) {
    for (size_t i = 0; i < half; ++i) {
      rows[h * head + i] = file[h * head + 2 * i];
      rows[h * head + half + i] = file[h * head + 2 * i + 1];
    }
  }
  return rows;
}

// docs/formats/gguf.md
struct PageGguf {
  std::map<std::string, json> keys;
  std::map<std::string, Rows> tensors;
  std::map<std::string, uint32_t> types;
};

class GgufPage {
 public:
  explicit GgufPage(std::string bytes) : bytes_(std::move(bytes)) {}

  PageGguf read() {
    EXPECT_EQ(take(4), "GGUF");
    EXPECT_EQ(number<uint32_t>(), 3u);
    const auto tensors = number<uint64_t>(), keys = number<uint64_t>();
    PageGguf file;
    for (uint64_t i = 0; i < keys; ++i) {
      const std::string key = text();
      file.keys[key] = value(number<uint32_t>());
    }
    struct Entry {
      std::string name;
      std::vector<uint64_t> sizes;
      uint32_t type;
      uint64_t offset;
    };
    std::vector<Entry> entries(tensors);
    for (Entry& entry : entries) {
      entry.name = text();
      entry.sizes.resize(number<uint32_t>());
      for (uint64_t& size : entry.sizes) size = number<uint64_t>();
      entry.type = number<uint32_t>();
      entry.offset = number<uint64_t>();
    }
    const size_t data = (at_ + 31) / 32 * 32;
    for (const Entry& entry : entries) {
      EXPECT_EQ(entry.offset % 32, 0u);
      at_ = data + entry.offset;
      const size_t rows = entry.sizes.size() > 1 ? entry.sizes[1] : 1;
      file.types[entry.name] = entry.type;
      for (size_t r = 0; r < rows; ++r) file.tensors[entry.name].push_back(row(entry.type, entry.sizes[0]));
    }
    return file;
  }

 private:
  std::string take(size_t count) {
    at_ += count;
    return bytes_.substr(at_ - count, count);
  }
  template <class T>
  T number() {
    T value;
    std::memcpy(&value, take(sizeof value).data(), sizeof value);
    return value;
  }
  std::string text() {
    const auto length = number<uint64_t>();
    return take(length);
  }
  json value(uint32_t type) {
    if (type == 4) return number<uint32_t>();
    if (type == 5) return number<int32_t>();
    if (type == 6) return number<float>();
    if (type == 7) return number<uint8_t>() == 1;
    if (type == 8) return text();
    EXPECT_EQ(type, 9u);
    const auto element = number<uint32_t>();
    json list = json::array();
    for (auto left = number<uint64_t>(); left > 0; --left) list.push_back(value(element));
    return list;
  }
  // A half-precision number: 1 sign bit, 5 of exponent (bias 15), 10 of fraction.
  float half() {
    const auto bits = number<uint16_t>();
    const int exponent = bits >> 10 & 31, fraction = bits & 1023;
    const double size =
        exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(1024 + fraction, exponent - 25);
    return static_cast<float>(bits >> 15 != 0 ? -size : size);
  }
  std::vector<float> row(uint32_t type, size_t count) {
    std::vector<float> row;
    while (row.size() < count) {
      if (type == 0) {
        row.push_back(number<float>());
      } else if (type == 1) {
        row.push_back(half());
      } else {
        EXPECT_EQ(type, 8u);
        const float scale = half();
        for (int i = 0; i < 32; ++i) row.push_back(scale * static_cast<float>(number<int8_t>()));
      }
    }
    return row;
  }

  std::string bytes_;
  size_t at_ = 0;
};

void expect_near(const Rows& a, const Rows& b, double limit) {
  ASSERT_EQ(a.size(), b.size());
  for (size_t r = 0; r < a.size(); ++r) {
    ASSERT_EQ(a[r].size(), b[r].size());
    for (size_t c = 0; c < a[r].size(); ++c) EXPECT_NEAR(a[r][c], b[r][c], limit) << r << " " << c;
  }
}

ModelConfig page_llama(int64_t vocab_size) {
  ModelConfig m = small_llama(vocab_size);
  m.d_model = 32;
  m.hidden = 64;
  return m;
}

TEST(FilePages, GgufIsEnoughToReadAModel) {
  const TestFolder folder("gguf_page");
  const auto tokenizer = small_tokenizer();
  const auto model = filled_model(page_llama(tokenizer->vocab_size()));
  const std::map<std::string, std::pair<uint32_t, double>> kinds = {
      {"F32", {0, 0}}, {"F16", {1, 1.0 / 4096}}, {"Q8_0", {8, 1.01 / 254 + 1.0 / 2048}}};
  for (const auto& [name, kind] : kinds) {
    export_gguf(exported(*model, *tokenizer), folder.at(name), name);
    const PageGguf file = GgufPage(slurp(folder.at(name))).read();
    EXPECT_EQ(file.keys.at("general.architecture"), "llama");
    EXPECT_EQ(file.keys.at("llama.embedding_length"), 32);
    EXPECT_EQ(file.keys.at("llama.attention.head_count_kv"), 1);
    EXPECT_EQ(file.keys.at("tokenizer.ggml.model"), "gpt2");
    EXPECT_EQ(file.keys.at("tokenizer.ggml.tokens").size(), static_cast<size_t>(tokenizer->vocab_size()));
    EXPECT_EQ(file.types.at("token_embd.weight"), kind.first);
    EXPECT_EQ(file.types.at("output_norm.weight"), 0u);
    const double limit = kind.second;
    expect_near(file.tensors.at("token_embd.weight"), rows_of(*model, "token_embedding.weight"), limit);
    expect_near(from_pairs(file.tensors.at("blk.1.attn_q.weight"), 2),
                rows_of(*model, "blocks.1.attention.W_Q.weight"), limit);
    expect_near(from_pairs(file.tensors.at("blk.0.attn_k.weight"), 1),
                rows_of(*model, "blocks.0.attention.W_K.weight"), limit);
    expect_near(file.tensors.at("blk.0.ffn_down.weight"), rows_of(*model, "blocks.0.mlp.down.weight"), limit);
  }
}

// docs/formats/huggingface.md, docs/formats/nanogpt.md: Conv1D is exchanged, nanoGPT's matrices are not.
TEST(FilePages, HuggingFaceAndNanoGptAreEnoughToReadAModel) {
  const TestFolder folder("hf_page");
  const auto tokenizer = small_tokenizer();
  ModelConfig config = small_gpt2(tokenizer->vocab_size());
  config.hidden = 4 * config.d_model;
  config.activation = "gelu";
  const auto model = filled_model(config);
  export_hf(exported(*model, *tokenizer), folder.at("hf"));
  const json said = json::parse(slurp(folder.at("hf/config.json")));
  EXPECT_EQ(said["n_embd"], 4);
  EXPECT_EQ(said["activation_function"], "gelu");
  EXPECT_EQ(said["tie_word_embeddings"], true);
  const PageFile hf = read_safetensors(slurp(folder.at("hf/model.safetensors")));
  export_nanogpt(exported(*model, *tokenizer), folder.at("nano"));
  const PageFile nano = read_safetensors(slurp(folder.at("nano")));
  EXPECT_EQ(json::parse(nano.metadata["model_args"].get<std::string>())["n_layer"], 2);
  EXPECT_EQ(hf.tensors.count("lm_head.weight") + nano.tensors.count("lm_head.weight"), 0u);
  Rows qkv = rows_of(*model, "blocks.1.attention.W_Q.weight");
  for (const char* name : {"blocks.1.attention.W_K.weight", "blocks.1.attention.W_V.weight"})
    for (const auto& row : rows_of(*model, name)) qkv.push_back(row);
  const std::string& exchanged = hf.tensors.at("transformer.h.1.attn.c_attn.weight").bytes;
  const std::string& straight = nano.tensors.at("transformer.h.1.attn.c_attn.weight").bytes;
  for (size_t out = 0; out < 12; ++out) {
    for (size_t in = 0; in < 4; ++in) {
      EXPECT_EQ(float_at(exchanged, in * 12 + out), qkv[out][in]);
      EXPECT_EQ(float_at(straight, out * 4 + in), qkv[out][in]);
    }
  }
}

TEST(FilePages, Llama2cIsEnoughToReadAModel) {
  const TestFolder folder("llama2c_page");
  const auto tokenizer = small_tokenizer();
  const auto model = filled_model(small_llama(tokenizer->vocab_size()));
  export_llama2c(exported(*model, *tokenizer), folder.at("x.bin"));
  const std::string bytes = slurp(folder.at("x.bin"));
  int32_t header[7];
  std::memcpy(header, bytes.data(), sizeof header);
  const auto dim = static_cast<size_t>(header[0]), hidden = static_cast<size_t>(header[1]);
  const auto layers = static_cast<size_t>(header[2]), heads = static_cast<size_t>(header[3]);
  const size_t kv = dim / heads * static_cast<size_t>(header[4]), seq = static_cast<size_t>(header[6]);
  EXPECT_EQ(header[5], -tokenizer->vocab_size());  // not tied
  const auto vocabulary = static_cast<size_t>(-header[5]);
  size_t at = sizeof header;
  EXPECT_EQ(rows_at(bytes, at, vocabulary, dim), rows_of(*model, "token_embedding.weight"));
  const auto each = [&](size_t rows, size_t columns, const std::string& name, size_t pairs = 0) {
    for (size_t layer = 0; layer < layers; ++layer) {
      const Rows found = rows_at(bytes, at, rows, columns);
      EXPECT_EQ(pairs > 0 ? from_pairs(found, pairs) : found,
                rows_of(*model, "blocks." + std::to_string(layer) + "." + name));
    }
  };
  each(1, dim, "attention_norm.weight");
  each(dim, dim, "attention.W_Q.weight", heads);
  each(kv, dim, "attention.W_K.weight", kv / (dim / heads));
  each(kv, dim, "attention.W_V.weight");
  each(dim, dim, "attention.W_O.weight");
  each(1, dim, "mlp_norm.weight");
  each(hidden, dim, "mlp.gate.weight");
  each(dim, hidden, "mlp.down.weight");
  each(hidden, dim, "mlp.up.weight");
  EXPECT_EQ(rows_at(bytes, at, 1, dim), rows_of(*model, "final_norm.weight"));
  const Rows cosines = rows_at(bytes, at, seq, dim / heads / 2),
             sines = rows_at(bytes, at, seq, dim / heads / 2);
  EXPECT_NEAR(cosines[3][1], std::cos(3 * std::pow(10000.0, -2.0 / (static_cast<double>(dim) / heads))),
              1e-6);
  EXPECT_NEAR(sines[3][0], std::sin(3.0), 1e-6);
  EXPECT_EQ(rows_at(bytes, at, vocabulary, dim), rows_of(*model, "head.weight"));
  EXPECT_EQ(at, bytes.size());
}

// docs/formats/npz.md. A zip's local header: PK 3 4, 22 bytes, lengths of name and extra field, then both.
TEST(FilePages, NpzIsEnoughToReadAnArray) {
  const TestFolder folder("npz_page");
  const auto tokenizer = small_tokenizer();
  const auto model = filled_model(small_llama(tokenizer->vocab_size()));
  export_npz(exported(*model, *tokenizer), folder.at("x.npz"));
  const std::string bytes = slurp(folder.at("x.npz"));
  size_t at = 0;
  int members = 0;
  while (bytes.substr(at, 4) == "PK\3\4") {
    uint16_t method, name_length, extra_length;
    uint32_t size;
    std::memcpy(&method, bytes.data() + at + 8, 2);
    std::memcpy(&size, bytes.data() + at + 22, 4);
    std::memcpy(&name_length, bytes.data() + at + 26, 2);
    std::memcpy(&extra_length, bytes.data() + at + 28, 2);
    EXPECT_EQ(method, 0);  // without packing
    const std::string name = bytes.substr(at + 30, name_length);
    const std::string npy = bytes.substr(at + 30 + name_length + extra_length, size);
    at += 30 + name_length + extra_length + size;
    ++members;
    ASSERT_EQ(npy.substr(0, 8), std::string("\x93NUMPY\1\0", 8));
    uint16_t header;
    std::memcpy(&header, npy.data() + 8, 2);
    EXPECT_EQ((10 + header) % 64, 0);
    EXPECT_EQ(npy[9u + header], '\n');
    EXPECT_EQ(npy.substr(10, 17), "{'descr': '<f4', ");
    const Rows expected = rows_of(*model, name.substr(0, name.size() - 4));
    const std::string shape =
        expected.size() == 1 && name.find("norm") != name.npos
            ? "(" + std::to_string(expected[0].size()) + ",)"
            : "(" + std::to_string(expected.size()) + ", " + std::to_string(expected[0].size()) + ")";
    EXPECT_NE(npy.substr(10, header).find("'fortran_order': False, 'shape': " + shape), std::string::npos)
        << npy.substr(10, header);
    size_t data = 10u + header;
    EXPECT_EQ(rows_at(npy, data, expected.size(), expected[0].size()), expected);
    EXPECT_EQ(data, npy.size());
  }
  EXPECT_EQ(members, model->parameters().size());
}

// docs/formats/token-bin.md
TEST(FilePages, TokenBinIsEnoughToReadIds) {
  const TestFolder folder("bin_page");
  const std::vector<int32_t> ids = {1, 258, 65535};
  write_token_file(folder.at("a"), ids, 16);
  EXPECT_EQ(slurp(folder.at("a")), std::string("\1\0\2\1\xff\xff", 6));
  write_token_file(folder.at("b"), ids, 32);
  EXPECT_EQ(slurp(folder.at("b")), std::string("\1\0\0\0\2\1\0\0\xff\xff\0\0", 12));
}

// docs/formats/tokenizer.md: ids of a text of small letters and single blanks, whose pieces under ByteLevel's
// own rule are a blank, if there is one, with the letters behind it.
std::vector<int32_t> page_encode(const json& file, const std::string& text) {
  std::vector<std::vector<std::string>> pieces;
  for (const char c : text) {
    if (c == ' ' || pieces.empty()) pieces.emplace_back();
    pieces.back().push_back(c == ' ' ? "Ġ" : std::string(1, c));
  }
  std::map<std::pair<std::string, std::string>, size_t> rank;
  for (const json& merge : file["model"]["merges"]) {
    const auto words = merge.get<std::string>();
    const size_t blank = words.find(' ');
    rank.emplace(std::pair(words.substr(0, blank), words.substr(blank + 1)), rank.size());
  }
  std::vector<int32_t> ids;
  for (auto& piece : pieces) {
    for (;;) {
      size_t best = rank.size(), where = 0;
      for (size_t i = 0; i + 1 < piece.size(); ++i) {
        const auto found = rank.find({piece[i], piece[i + 1]});
        if (found == rank.end() || found->second >= best) continue;
        best = found->second;
        where = i;
      }
      if (best == rank.size()) break;
      piece[where] += piece[where + 1];
      piece.erase(piece.begin() + static_cast<std::ptrdiff_t>(where) + 1);
    }
    for (const std::string& part : piece) ids.push_back(file["model"]["vocab"][part].get<int32_t>());
  }
  return ids;
}

TEST(FilePages, TokenizerIsEnoughToEncode) {
  const auto tokenizer = small_tokenizer();
  const json file = json::parse(tokenizer->to_json());
  EXPECT_EQ(file["model"]["type"], "BPE");
  EXPECT_EQ(file["added_tokens"][0]["content"], "<|endoftext|>");
  for (const std::string text : {"the cat and that hat", "then", "they had the thing", "xyzzy thethe"})
    EXPECT_EQ(page_encode(file, text), tokenizer->encode(text)) << text;
}

}  // namespace
}  // namespace tril
