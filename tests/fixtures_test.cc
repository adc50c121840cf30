// Every file of the optional data folder's fixtures gets what its manifest says: accepted, refused with words
// that tell why, or one of both; never a crash, never another kind of error. What it leaves out: what an
// accepted file holds (each reader's own tests).
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "program.h"
#include "tril/base/error.h"
#include "tril/base/file.h"
#include "tril/formats/foreign_model.h"
#include "tril/formats/hf_folder.h"
#include "tril/formats/npz.h"
#include "tril/formats/token_file.h"
#include "tril/text/load_tokenizer.h"
#include "tril/train/config.h"

namespace tril {
namespace {

struct Fixture {
  std::string file, kind, behaviour;
};

std::vector<Fixture> manifest(const std::string& folder) {
  std::ifstream in(folder + "/manifest.tsv");
  std::vector<Fixture> all;
  std::string line;
  std::getline(in, line);
  while (std::getline(in, line)) {
    std::istringstream fields(line);
    Fixture fixture;
    std::getline(fields, fixture.file, '\t');
    std::getline(fields, fixture.kind, '\t');
    std::getline(fields, fixture.behaviour);
    all.push_back(fixture);
  }
  return all;
}

// One step of a small character model on a text.
ProgramResult small_run_on(const std::string& path, const std::string& split) {
  const TemporaryFolder folder;
  std::vector<std::string> words = {"train", "shakespeare-char", "--data", path, "--steps", "1",
                                    "--out", folder / "run"};
  for (const char* setting : {"model.d_model=8", "model.heads=2", "model.hidden=8", "model.layers=1",
                              "model.context=8", "train.batch=1", "train.warmup=0"}) {
    words.emplace_back("--set");
    words.emplace_back(setting);
  }
  words.insert(words.end(), {"--set", "data.split=" + split});
  return run_program(words);
}

// What "accepted" means for a text: "", else the refusal.
std::string train_on(const std::string& path) {
  const ProgramResult done = small_run_on(path, "none");
  EXPECT_TRUE(done.exit_code == 0 || done.exit_code == 2) << path << ": exit " << done.exit_code << "\n"
                                                          << done.err;
  return done.exit_code == 0 ? "" : done.err;
}

/// What reading a file of that kind says: "" where it is accepted, the refusal's text otherwise.
std::string reading(const std::string& kind, const std::string& path) {
  const std::map<std::string, std::function<void()>> readers = {
      {"safetensors", [&] { SafetensorsFile file(path); }},
      {"gguf", [&] { GgufFile file(path); }},
      {"npz", [&] { NpzFile file(path); }},
      {"tokenizer.json",
       [&] { load_tokenizer(path)->encode("hello world, aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab"); }},
      {"token-bin", [&] { TokenFile(path).ids(262); }},
      {"hf-config", [&] { parse_hf_config(parse_json_file(read_file(path), path), path); }},
      {"hf-index", [&] { shards_of_index(path); }},
      {"config",
       [&] {
         ConfigBuilder builder;
         builder.add_file(path);
         builder.finish();
       }},
  };
  if (kind == "text" || kind == "jsonl") return train_on(path);
  const auto reader = readers.find(kind);
  if (reader == readers.end()) return "no reader for the kind " + kind;
  try {
    reader->second();
  } catch (const Refusal& refusal) {
    return refusal.what();
  }
  return "";
}

// Words that a refusal must hold, so that it is refused for what is wrong with it.
const std::map<std::string, std::string> kTold = {
    {"text/empty.txt", "it is empty"},
    {"text/utf16le.txt", "UTF-16"},
    {"text/gzip_renamed.txt", "gzip"},
    {"bin/tokens_odd.bin", "no whole number of ids"},
    {"bin/tokens_out_of_range.bin", "position 3: id 65535"},
    {"bin/tokens_bad_header.bin", "claims 2147483647 tokens, the file holds 32"},
    {"st/dup_names.safetensors", "'w'"},
    {"st/lfs_pointer.safetensors", "Git LFS pointer"},
    {"st/torch_zip_renamed.safetensors", "PyTorch"},
    {"tok/unknown_pretok.json", "QuantumSplit"},
    {"gguf/html.gguf", "HTML"},
    {"gguf/version0.gguf", "version 0"},
    {"gguf/kv_type_unknown.gguf", "99"},
    {"gguf/tensor_type_unknown.gguf", "250"},
    {"gguf/tensor_overlap.gguf", "overlap"},
    {"gguf/align_zero.gguf", "alignment"},
    {"npz/shape_short_data.npz", "240000"},
    {"npz/bad_crc.npz", "CRC"},
    {"cfg/unknown_key.toml", "actvation"},
    {"cfg/wrong_type.toml", "line 2"},
    {"hf/act_unknown.json", "relu9"},
    {"hf/quantized.json", "gptq"},
    {"hf/rope_scaling_llama3.json", "rope_scaling"},
    {"hf/index_missing_shard.json", "../outside.safetensors"},
};

// Containers that are sound and hold no model.
bool only_a_container(const std::string& behaviour) {
  return behaviour.find("REJECT as model") != std::string::npos;
}

// The manifest's warnings: a mark that is dropped is told; characters of the last tenth alone are in the
// vocabulary, which is that of the whole text, so the tail is evaluated and nothing in it is unknown.
TEST(Fixtures, WhatIsOnlyOddIsAcceptedAndTold) {
  const std::string folder = shared_folder() + "/fixtures/text/";
  if (!std::filesystem::exists(folder)) GTEST_SKIP() << "no shared data";
  const ProgramResult marked = small_run_on(folder + "bom.txt", "none");
  EXPECT_EQ(marked.exit_code, 0) << marked.err;
  EXPECT_NE(marked.err.find("bom.txt: the byte-order mark"), std::string::npos) << marked.err;
  const ProgramResult tail = small_run_on(folder + "val_only_chars.txt", "tail");
  EXPECT_EQ(tail.exit_code, 0) << tail.err;
  EXPECT_NE(tail.out.find("validation  loss "), std::string::npos) << tail.out;
}

TEST(Fixtures, EachGetsWhatItsManifestSays) {
  const std::string folder = shared_folder() + "/fixtures";
  if (!std::filesystem::exists(folder + "/manifest.tsv")) GTEST_SKIP() << "no shared data";
  int seen = 0;
  for (const Fixture& fixture : manifest(folder)) {
    SCOPED_TRACE(fixture.file + ": " + fixture.behaviour);
    const std::string path = folder + "/" + fixture.file;
    ASSERT_TRUE(std::filesystem::exists(path));
    const std::string said = reading(fixture.kind, path);
    const std::string word = fixture.behaviour.substr(0, fixture.behaviour.find_first_of(" :;"));
    if (only_a_container(fixture.behaviour)) {
      EXPECT_EQ(said, "");
      EXPECT_THROW(open_foreign_model(path), Refusal);
    } else if (word == "ACCEPT") {
      EXPECT_EQ(said, "");
    } else if (word == "REJECT") {
      EXPECT_NE(said, "");
    } else {
      EXPECT_TRUE(word == "EITHER" || word == "WARN") << word;
    }
    if (!said.empty()) {
      EXPECT_NE(said.find(std::filesystem::path(path).filename().string()), std::string::npos) << said;
    }
    if (const auto told = kTold.find(fixture.file); told != kTold.end()) {
      EXPECT_NE(said.find(told->second), std::string::npos) << said;
    }
    ++seen;
  }
  EXPECT_GE(seen, 90);
}

}  // namespace
}  // namespace tril
