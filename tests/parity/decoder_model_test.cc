// Small decoders as a whole against PyTorch: logits, loss and the gradient of every weight for settings that
// cover each switch (decoder_model.json, made in float64).
#include <gtest/gtest.h>

#include <cstdlib>

#include "numbers.h"
#include "tril/model/registry.h"

namespace tril::parity {
namespace {

using nlohmann::json;

std::vector<double> read(const Tensor& tensor) {
  std::vector<double> out;
  for (int64_t i = 0; i < tensor.count(); ++i) out.push_back(tensor.at(i));
  return out;
}

ModelConfig config_of(const json& stored) {
  ModelConfig c;
  c.family = "decoder";
  c.d_model = stored["d_model"], c.heads = stored["heads"], c.kv_heads = stored["kv_heads"];
  c.d_k = c.d_model, c.d_v = c.d_model;
  c.hidden = stored["hidden"], c.layers = stored["layers"], c.context = stored["context"];
  c.vocab_size = stored["vocab_size"];
  c.norm = text(stored["norm"]), c.norm_place = text(stored["norm_place"]);
  c.norm_gain = stored["norm_gain"], c.embedding_norm = stored["embedding_norm"];
  c.final_norm = stored["final_norm"];
  c.position = text(stored["position"]), c.activation = text(stored["activation"]);
  c.bias = stored["bias"], c.attention_bias = stored["attention_bias"], c.head_bias = stored["head_bias"];
  c.tied = stored["tied"], c.mask = text(stored["mask"]), c.qk_norm = stored["qk_norm"];
  c.softcap = stored["softcap"], c.norm_epsilon = stored["norm_epsilon"];
  c.dropout = stored["dropout"];
  c.rope_theta = stored["rope_theta"], c.rope_pairing = text(stored["rope_pairing"]);
  return c;
}

/// The largest difference of logits, loss and gradients.
template <class T>
double difference(const json& all, const json& stored, Engine engine) {
  const auto model = make_model(config_of(stored["model"]), dtype_of<T>());
  Parameters& parameters = model->parameters();
  EXPECT_EQ(parameters.size(), std::ssize(stored["weights"]));
  for (const json& weight : stored["weights"]) {
    const int index = parameters.find(text(weight["name"]));
    if (index < 0) {
      ADD_FAILURE() << "no weight " << weight["name"];
      return INFINITY;
    }
    const auto values = weight["data"].get<std::vector<float>>();
    EXPECT_EQ(parameters.value(index).count(), std::ssize(values)) << weight["name"];
    std::copy(values.begin(), values.end(), parameters.value(index).as<T>());
  }
  const int64_t rows = all["ids"]["shape"][0], length = all["ids"]["shape"][1];
  auto ids = all["ids"]["data"].get<std::vector<int32_t>>();
  auto targets = all["targets"]["data"].get<std::vector<int32_t>>();
  Batch batch;
  batch.ids = {{rows, length}, DType::i32, ids.data()};
  batch.targets = {{rows, length}, DType::i32, targets.data()};

  Tape tape({engine, dtype_of<T>()});
  const Var logits = model->forward(tape, batch.ids, Rows::all);
  double worst =
      largest_difference(read(logits.value()), stored["logits"]["data"].get<std::vector<double>>());
  tape.reset();
  parameters.zero_grads();
  const CrossEntropy loss = model->loss(tape, batch, Reduce::mean);
  EXPECT_EQ(loss.counted, 8);
  worst = std::max(worst, std::abs(loss.loss.value().at(0) - stored["loss"].get<double>()));
  tape.backward(loss.loss);
  for (const json& weight : stored["weights"]) {
    const Tensor grad = parameters.grad(parameters.find(text(weight["name"])));
    worst = std::max(worst, largest_difference(read(grad), weight["grad"].get<std::vector<double>>()));
  }
  return worst;
}

TEST(ParityDecoderModel, LogitsLossAndEveryGradientUnderEachSwitch) {
  const json all = load("decoder_model");
  double in_double = 0, in_float = 0;
  for (const json& stored : all["cases"]) {
    SCOPED_TRACE(text(stored["name"]));
    const double plain = difference<double>(all, stored, Engine::reference);
    EXPECT_LE(plain, 1e-12);
    in_double = std::max(in_double, plain);
    for (Engine engine : {Engine::reference, Engine::fast}) {
      const double single = difference<float>(all, stored, engine);
      EXPECT_LE(single, 1e-5);
      in_float = std::max(in_float, single);
    }
  }
  RecordProperty("largest_difference_f64", scientific(in_double));
  RecordProperty("largest_difference_f32", scientific(in_float));
}

}  // namespace
}  // namespace tril::parity
