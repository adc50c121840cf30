#include "tril/formats/hf_folder.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tril/base/file.h"
#include "tril/base/folder_testing.h"
#include "tril/base/quote.h"
#include "tril/formats/foreign_testing.h"

namespace tril {
namespace {
using nlohmann::json;

class HfFolder : public testing::Test {
 protected:
  HfFolder() : tokenizer_(small_tokenizer()) {}

  /// Exports a model as `hf` and returns the folder.
  std::string written(const Model& model) {
    export_hf(exported(model, *tokenizer_), folder_ / "hf");
    return folder_ / "hf";
  }
  /// Writes model.safetensors again, from the tensors that `change` has left.
  template <class Change>
  void rewrite(const std::string& hf, const Change& change) {
    const std::string path = hf + "/model.safetensors";
    const std::string bytes = read_file(path);
    SafetensorsView view = parse_safetensors(bytes, path);
    change(view.tensors);
    write_safetensors(path, view.tensors, view.metadata);
  }
  void set(const std::string& file, const char* key, const json& value) {
    json config = json::parse(read_file(file));
    config[key] = value;
    write_file_atomically(file, config.dump());
  }
  static StoredTensor* find(std::vector<StoredTensor>& tensors, const std::string& name) {
    for (StoredTensor& tensor : tensors)
      if (tensor.name == name) return &tensor;
    return nullptr;
  }

  TemporaryFolder folder_;
  std::shared_ptr<const BpeTokenizer> tokenizer_;
};

// Case 33: a tied table is stored once. tests/clients/transformers_client.py lets the reference library load
// such folders, with no weight missing.
TEST_F(HfFolder, ComesBackBitForBit) {
  int n = 0;
  for (const ModelConfig& config : {small_gpt2(270), small_llama(270)}) {
    for (const bool tied : {false, true}) {
      ModelConfig c = config;
      c.tied = tied;
      const auto model = filled_model(c);
      const std::string path = folder_ / ("hf" + std::to_string(n++));
      const Exported done = export_hf(exported(*model, *tokenizer_), path);
      const ForeignModel foreign = open_foreign_model(path);
      EXPECT_EQ(done.tensors, static_cast<int64_t>(foreign.tensors.all().size()));
      EXPECT_EQ(done.architecture, architecture_of(foreign.layout));
      EXPECT_EQ(foreign.tokenizer->fingerprint(), tokenizer_->fingerprint());
      EXPECT_EQ(foreign.ends.ends, (std::vector<int32_t>{269}));
      EXPECT_EQ(foreign.tensors.find("lm_head.weight") == nullptr, tied);  // stored once
      expect_same_weights(*model, *load_foreign_model(foreign, DType::f32, INT64_MAX));
    }
  }
}

// Case 35: the metadata says format = pt. And case 33: config.json says that the head is tied.
TEST_F(HfFolder, ToldAsTheReferenceLibraryNeedsIt) {
  const std::string hf = written(*filled_model(small_gpt2(270)));
  EXPECT_EQ(SafetensorsFile(hf + "/model.safetensors").metadata(), (Metadata{{"format", "pt"}}));
  const json tokenizer = json::parse(read_file(hf + "/tokenizer_config.json"));
  EXPECT_EQ(tokenizer["tokenizer_class"], "PreTrainedTokenizerFast");
  EXPECT_FALSE(tokenizer.contains("bos_token"));
  EXPECT_EQ(tokenizer["eos_token"], "<|endoftext|>");
  EXPECT_EQ(json::parse(read_file(hf + "/config.json"))["tie_word_embeddings"], true);
}

// Case 34: old files carry masks, and a GPT2Model's own file has no "transformer." before its names.
TEST_F(HfFolder, OldNamesAndBuffersLoad) {
  const auto model = filled_model(small_gpt2(270));
  const std::string hf = written(*model), mask(4 * 25, '\0');
  rewrite(hf, [&](std::vector<StoredTensor>& tensors) {
    tensors.push_back({"transformer.h.0.attn.bias", StoredType::kF32, {1, 1, 5, 5}, mask});
    tensors.push_back(
        {"transformer.h.0.attn.masked_bias", StoredType::kF32, {}, std::string_view(mask).substr(0, 4)});
  });
  expect_same_weights(*model, *load_foreign_model(open_foreign_model(hf), DType::f32, INT64_MAX));
  rewrite(hf, [&](std::vector<StoredTensor>& tensors) {
    for (StoredTensor& tensor : tensors) tensor.name = tensor.name.substr(std::string("transformer.").size());
  });
  expect_same_weights(*model, *load_foreign_model(open_foreign_model(hf), DType::f32, INT64_MAX));
}

// Case 34: any other name is an error that lists it.
TEST_F(HfFolder, EveryWrongTensorIsTold) {
  const std::string hf = written(*filled_model(small_gpt2(270)));
  rewrite(hf, [&](std::vector<StoredTensor>& tensors) {
    find(tensors, "transformer.h.0.ln_1.weight")->name = "transformer.h.0.ln_9.weight";
    find(tensors, "transformer.h.1.ln_2.bias")->name = "extra";
    find(tensors, "transformer.wpe.weight")->shape = {4, 5};
  });
  EXPECT_EQ(refusal_of([&] { open_foreign_model(hf); }),
            hf + ": the tensors are not those of the model that its configuration tells; missing: "
                 "'transformer.h.0.ln_1.weight', 'transformer.h.1.ln_2.bias'; not known: 'extra', "
                 "'transformer.h.0.ln_9.weight'; of another shape: 'transformer.wpe.weight' is [4, 5], needs "
                 "[5, 4]");
}

TEST_F(HfFolder, TiedWeightsThatDifferAreNeverChosen) {
  const std::string hf = written(*filled_model(small_gpt2(270)));
  std::string head;
  rewrite(hf, [&](std::vector<StoredTensor>& tensors) {
    StoredTensor copy = *find(tensors, "transformer.wte.weight");
    copy.name = "lm_head.weight";
    tensors.push_back(copy);
  });
  EXPECT_TRUE(open_foreign_model(hf).config.tied);  // equal copies are one tensor
  rewrite(hf, [&](std::vector<StoredTensor>& tensors) {
    StoredTensor* copy = find(tensors, "lm_head.weight");
    head = copy->bytes;
    head[0] = static_cast<char>(head[0] ^ 1);
    copy->bytes = head;
  });
  EXPECT_EQ(
      refusal_of([&] { open_foreign_model(hf); }),
      hf + ": config.json says that the head is the token table, but lm_head.weight and "
           "transformer.wte.weight "
           "differ; set tie_word_embeddings to false in config.json to use both, or take one of them out");
  set(hf + "/config.json", "tie_word_embeddings", false);
  EXPECT_FALSE(open_foreign_model(hf).config.tied);
}

TEST_F(HfFolder, AMissingHeadOfALlamaThatSaysNothingIsTheTokenTable) {
  ModelConfig config = small_llama(270);
  config.tied = true;
  const std::string hf = written(*filled_model(config));
  set(hf + "/config.json", "tie_word_embeddings", nullptr);
  EXPECT_TRUE(open_foreign_model(hf).config.tied);
  set(hf + "/config.json", "tie_word_embeddings", false);
  EXPECT_NE(refusal_of([&] { open_foreign_model(hf); }).find("missing: 'lm_head.weight'"), std::string::npos);
}

TEST_F(HfFolder, ShardsAreReadThroughTheirIndex) {
  const auto model = filled_model(small_llama(270));
  const std::string hf = written(*model);
  const std::string bytes = read_file(hf + "/model.safetensors");
  const std::vector<StoredTensor> all = parse_safetensors(bytes, "").tensors;
  json map;
  const size_t half = all.size() / 2;
  for (size_t i = 0; i < all.size(); ++i) map[all[i].name] = i < half ? "a.safetensors" : "b.safetensors";
  write_safetensors(hf + "/a.safetensors", std::span(all).first(half), {});
  write_safetensors(hf + "/b.safetensors", std::span(all).subspan(half), {});
  remove_path(hf + "/model.safetensors");
  const std::string index = hf + "/model.safetensors.index.json";
  write_file_atomically(index, json{{"weight_map", map}}.dump());
  expect_same_weights(*model, *load_foreign_model(open_foreign_model(hf), DType::f32, INT64_MAX));

  remove_path(hf + "/b.safetensors");
  EXPECT_EQ(refusal_of([&] { open_foreign_model(hf); }),
            index + ": 1 of 2 shards are missing: 'b.safetensors'");
  map[all.back().name] = "../b.safetensors";
  write_file_atomically(index, json{{"weight_map", map}}.dump());
  EXPECT_EQ(
      refusal_of([&] { open_foreign_model(hf); }),
      index + ": the shard of '" + all.back().name + "' is '../b.safetensors'; shards lie beside the index");
}

TEST_F(HfFolder, AnIndexOfAnotherFormIsRefused) {
  const std::string hf = written(*filled_model(small_gpt2(270)));
  const std::string index = hf + "/model.safetensors.index.json";
  remove_path(hf + "/model.safetensors");
  for (const char* text :
       {"[1]", "3", "\"x\"", "null", "{}", "{\"weight_map\": [1]}", "{\"weight_map\": {}}"}) {
    write_file_atomically(index, text);
    EXPECT_EQ(refusal_of([&] { open_hf_folder(hf, std::nullopt); }),
              index + ": is no index of shards: it has no weight_map")
        << text;
  }
}

// A name with a zero byte ends there for the system, and would be another file than the index says.
TEST_F(HfFolder, AShardIsAFileBesideTheIndex) {
  const std::string hf = written(*filled_model(small_gpt2(270)));
  const std::string index = hf + "/model.safetensors.index.json";
  move_path(hf + "/model.safetensors", hf + "/a.safetensors");
  const std::string zero("a.safetensors\0b", 15);
  for (const std::string& name :
       {std::string("../a.safetensors"), std::string("/a.safetensors"), std::string("b/a.safetensors"),
        std::string("."), std::string(".."), std::string(), zero}) {
    write_file_atomically(index, json{{"weight_map", {{"t", name}}}}.dump());
    EXPECT_EQ(refusal_of([&] { open_foreign_model(hf); }),
              index + ": the shard of 't' is " + in_quotes(name) + "; shards lie beside the index");
  }
}

// Nested far deeper than the stack could follow, in a key that is known and in one that is not.
TEST_F(HfFolder, DeepNestingIsRefused) {
  const std::string hf = written(*filled_model(small_gpt2(270)));
  const std::string deep = std::string(300000, '[') + std::string(300000, ']');
  for (const char* name : {"config.json", "generation_config.json", "tokenizer.json"}) {
    const std::string path = hf + "/" + name, whole = read_file(path);
    for (const char* key : {"eos_token_id", "anything", "weight_map"}) {
      json changed = json::parse(whole);
      changed[key] = "HERE";
      std::string text = changed.dump();
      write_file_atomically(path, text.replace(text.find("\"HERE\""), 6, deep));
      EXPECT_EQ(refusal_of([&] { open_foreign_model(hf); }), path + ": is nested more than 200 levels deep");
    }
    write_file_atomically(path, whole);
  }
}

TEST_F(HfFolder, RefusesWhatIsNoModel) {
  const std::string hf = written(*filled_model(small_gpt2(270)));
  remove_path(hf + "/model.safetensors");
  EXPECT_EQ(refusal_of([&] { open_foreign_model(hf); }),
            hf + ": holds no model.safetensors and no model.safetensors.index.json");
  write_file_atomically(hf + "/pytorch_model.bin", "PK");
  EXPECT_NE(refusal_of([&] { open_foreign_model(hf); }).find("pickled weights (pytorch_model.bin)"),
            std::string::npos);
  write_file_atomically(hf + "/model.safetensors",
                        "version https://git-lfs.github.com/spec/v1\noid sha256:0123\nsize 548105171\n");
  EXPECT_NE(refusal_of([&] { open_foreign_model(hf); }).find("Git LFS pointer"), std::string::npos);
}

}  // namespace
}  // namespace tril
