// The decoder against two programs that are not ours: TinyGPT in PyTorch (its initial weights and first loss)
// and microgpt on scalars in Python (its first loss). Whole runs are compared where training is.
#include <gtest/gtest.h>

#include <iterator>
#include <set>

#include "numbers.h"
#include "tril/model/registry.h"

namespace tril::parity {
namespace {

ModelConfig tiny_gpt() {
  ModelConfig c;
  c.family = "decoder";
  c.context = 32, c.d_model = 16, c.heads = 2, c.hidden = 32, c.layers = 2, c.vocab_size = 3;
  c.norm_place = "post", c.final_norm = false, c.position = "sinusoidal", c.bias = c.head_bias = true;
  return c;
}

/// PyTorch's name of a TinyGPT weight as ours.
std::string our_name(std::string name) {
  const std::vector<std::pair<std::string, std::string>> words = {
      {"token.", "token_embedding."}, {".w_q.", ".attention.W_Q."},
      {".w_k.", ".attention.W_K."},   {".w_v.", ".attention.W_V."},
      {".w_o.", ".attention.W_O."},   {".ffn1.", ".mlp.up."},
      {".ffn2.", ".mlp.down."},       {".ln1.", ".attention_norm."},
      {".ln2.", ".mlp_norm."},        {"output.", "head."}};
  for (const auto& [theirs, ours] : words)
    if (const size_t at = name.find(theirs); at != std::string::npos) name.replace(at, theirs.size(), ours);
  return name;
}

TEST(ParityDecoder, TinyGptBeginsWithPyTorchsWeights) {
  std::unique_ptr<Model> model = make_model(tiny_gpt(), DType::f32);
  TorchGenerator random(0);
  model->initialize(random);
  const auto stored = load("initial_weights")["tiny_gpt_abc"];
  const Parameters& p = model->parameters();
  EXPECT_EQ(p.size(), static_cast<int>(stored["weights"].size()));
  for (const auto& weight : stored["weights"]) {
    const int index = p.find(our_name(weight["name"]));
    ASSERT_GE(index, 0) << weight["name"];
    const Tensor value = p.value(index);
    const auto start = weight["start"].get<std::vector<float>>();
    for (size_t i = 0; i < start.size(); ++i)
      ASSERT_NEAR(value.at(static_cast<int64_t>(i)), start[i], 1e-6) << weight["name"];
    if (index == 0) continue;  // normal numbers agree to 1e-6, all others bit for bit
    EXPECT_EQ(digest(std::span<const float>(value.span<float>())), weight["sha256"].get<std::string>())
        << weight["name"];
  }
  for (int64_t expected : stored["next"]) EXPECT_EQ(random.randint(0, 1000), expected);
}

// The first batch is drawn from the same generator, after the weights; loss 1.3136.
TEST(ParityDecoder, TinyGptsFirstLossIsPyTorchs) {
  const auto stored = load("tiny_gpt");
  for (DType dtype : {DType::f32, DType::f64}) {
    std::unique_ptr<Model> model = make_model(tiny_gpt(), dtype);
    TorchGenerator random(0);
    model->initialize(random);
    std::vector<int32_t> ids, targets;
    for (const int64_t start : stored["first_starts"]) {
      EXPECT_EQ(random.randint(0, 60 - 8 - 1), start);
      for (int64_t t = start; t < start + 8; ++t) {
        ids.push_back(static_cast<int32_t>(t % 3));
        targets.push_back(static_cast<int32_t>((t + 1) % 3));
      }
    }
    Tape tape({dtype == DType::f32 ? Engine::fast : Engine::reference, dtype});
    const Batch batch{{{16, 8}, DType::i32, ids.data()}, {{16, 8}, DType::i32, targets.data()}};
    EXPECT_NEAR(model->loss(tape, batch, Reduce::mean).loss.value().at(0), stored["losses"][0].get<double>(),
                1e-6);
  }
}

// Shuffle, weights and arithmetic as microgpt's, so the first loss agrees in double.
TEST(ParityDecoder, MicrogptsFirstLossIsPythons) {
  const auto stored = load("microgpt")["villages"];
  std::vector<std::string> names;
  std::set<char> letters;
  std::string line;
  for (char c : read_file(kFolder + "villages.txt")) {
    if (c != '\n') {
      line += c;
      letters.insert(c);
      continue;
    }
    names.push_back(line);
    line.clear();
  }
  ASSERT_EQ(names.size(), stored["documents"].get<size_t>());
  PythonRandom random(stored["seed"].get<int64_t>());
  random.shuffle(std::span<std::string>(names));

  ModelConfig c;
  c.family = "decoder";
  c.context = 16, c.d_model = 16, c.heads = 4, c.hidden = 64, c.norm = "rms", c.norm_gain = false;
  c.embedding_norm = true, c.final_norm = false, c.init = "microgpt";
  c.vocab_size = static_cast<int64_t>(letters.size()) + 1;
  EXPECT_EQ(c.vocab_size, stored["tokens"].get<int64_t>());
  std::unique_ptr<Model> model = make_model(c, DType::f64);
  model->initialize(random);
  EXPECT_EQ(model->parameters().count(), stored["parameters"].get<int64_t>());

  const int32_t boundary = static_cast<int32_t>(letters.size());
  std::vector<int32_t> ids = {boundary};
  for (char letter : names[0])
    ids.push_back(static_cast<int32_t>(std::distance(letters.begin(), letters.find(letter))));
  std::vector<int32_t> targets(ids.begin() + 1, ids.end());
  targets.push_back(boundary);
  const int64_t n = std::min<int64_t>(16, std::ssize(ids));
  Tape tape({Engine::reference, DType::f64});
  const Batch batch{{{1, n}, DType::i32, ids.data()}, {{1, n}, DType::i32, targets.data()}};
  EXPECT_NEAR(model->loss(tape, batch, Reduce::mean).loss.value().at(0), stored["losses"][0].get<double>(),
              1e-13);
}

}  // namespace
}  // namespace tril::parity
