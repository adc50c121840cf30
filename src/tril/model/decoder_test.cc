#include "tril/model/decoder.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "tril/base/error.h"
#include "tril/model/decoder_testing.h"
#include "tril/model/parameter_count.h"

namespace tril {
namespace {

std::vector<int32_t> some_ids() {
  return {1, 4, 7, 2, 8, 0, 5, 5, 3, 6};
}
std::vector<int32_t> some_targets() {
  return {4, 7, -1, 8, 0, 3, 5, 3, 6, 1};
}

template <class T = double>
std::vector<T> logits_of(const Model& model, std::vector<int32_t> ids, int64_t batch, Rows rows) {
  Tape tape({std::is_same_v<T, float> ? Engine::fast : Engine::reference, dtype_of<T>(), false});
  const int64_t length = static_cast<int64_t>(ids.size()) / batch;
  Var y = model.forward(tape, id_tensor(ids, {batch, length}), rows);
  return {y.v<T>(), y.v<T>() + y.count()};
}

class DecoderSwitch : public testing::TestWithParam<std::pair<std::string, ModelConfig>> {
 protected:
  const ModelConfig& config() const { return GetParam().second; }
};

INSTANTIATE_TEST_SUITE_P(Decoder, DecoderSwitch, testing::ValuesIn(decoder_variants()),
                         [](const auto& info) { return info.param.first; });

TEST_P(DecoderSwitch, GradientsEqualDifferences) {
  std::unique_ptr<Model> model = drawn(config(), DType::f64);
  std::vector<int32_t> ids = some_ids(), targets = some_targets();
  expect_gradients(*model, {id_tensor(ids, {2, 5}), id_tensor(targets, {2, 5})}, 2e-6);
}

TEST_P(DecoderSwitch, HasAsManyParametersAsTheFormulaSays) {
  EXPECT_EQ(make_model(config(), DType::f32)->parameters().count(), parameter_count(config()));
}

// The fast engine, loss and every gradient, against the definition in double.
TEST_P(DecoderSwitch, FastEqualsReference) {
  std::unique_ptr<Model> f = drawn(config(), DType::f32), d = drawn(config(), DType::f64);
  std::vector<int32_t> ids = some_ids(), targets = some_targets();
  const Batch batch{id_tensor(ids, {2, 5}), id_tensor(targets, {2, 5})};
  Tape fast, plain({Engine::reference, DType::f64});
  Var lf = f->loss(fast, batch, Reduce::mean).loss, ld = d->loss(plain, batch, Reduce::mean).loss;
  EXPECT_NEAR(lf.value().at(0), ld.value().at(0), 1e-5);
  fast.backward(lf);
  plain.backward(ld);
  double largest = 1;
  for (double g : d->parameters().flat_grads().span<double>()) largest = std::max(largest, std::fabs(g));
  for (int i = 0; i < f->parameters().size(); ++i)
    for (int64_t n = 0; n < f->parameters().grad(i).count(); ++n)
      ASSERT_NEAR(f->parameters().grad(i).at(n), d->parameters().grad(i).at(n), 2e-5 * largest)
          << f->parameters().info(i).name;
}

// Documents in one row give the loss and the gradients that each gives alone, added up.
TEST_P(DecoderSwitch, DocumentsInOneRowDoNotSeeEachOther) {
  if (config().dropout > 0) return;  // its draws differ from row to row
  std::unique_ptr<Model> together = drawn(config(), DType::f64), alone = drawn(config(), DType::f64);
  std::vector<int32_t> ids = some_ids(), targets = some_targets(), lengths = {4, 1, 5};
  Tape tape({Engine::reference, DType::f64});
  Batch batch{id_tensor(ids, {1, 10}), id_tensor(targets, {1, 10}), id_tensor(lengths, {3})};
  Var whole = together->loss(tape, batch, Reduce::sum).loss;
  tape.backward(whole);
  double sum = 0;
  int64_t from = 0;
  for (int32_t length : lengths) {
    Tape one({Engine::reference, DType::f64});
    const Batch document{{{1, length}, DType::i32, ids.data() + from},
                         {{1, length}, DType::i32, targets.data() + from}};
    Var loss = alone->loss(one, document, Reduce::sum).loss;
    one.backward(loss);
    sum += loss.value().at(0);
    from += length;
  }
  EXPECT_NEAR(whole.value().at(0), sum, 1e-12);
  const auto a = together->parameters().flat_grads().span<double>(),
             b = alone->parameters().flat_grads().span<double>();
  for (size_t i = 0; i < a.size(); ++i) ASSERT_NEAR(a[i], b[i], 1e-11);
  std::unique_ptr<Model> single = drawn(config(), DType::f32);
  Tape fast;
  EXPECT_NEAR(single->loss(fast, batch, Reduce::sum).loss.value().at(0), sum, 1e-4);
}

TEST_P(DecoderSwitch, LastRowEqualsTheLastOfAll) {
  std::unique_ptr<Model> model = drawn(config(), DType::f64);
  const std::vector<double> last = logits_of(*model, some_ids(), 2, Rows::last),
                            all = logits_of(*model, some_ids(), 2, Rows::all);
  for (size_t b = 0; b < 2; ++b)
    for (size_t v = 0; v < 9; ++v) EXPECT_NEAR(last[b * 9 + v], all[(b * 5 + 4) * 9 + v], 1e-12);
}

// The mask is the whole difference between a decoder and an encoder: with it, the past does not see the
// future.
TEST(Decoder, OneMaskIsTheDifferenceToAnEncoder) {
  for (const char* mask : {"causal", "none"}) {
    ModelConfig config = small_decoder();
    config.mask = mask;
    std::unique_ptr<Model> model = drawn(config, DType::f64);
    std::vector<int32_t> changed = {1, 4, 7, 2, 3};
    const std::vector<double> a = logits_of(*model, {1, 4, 7, 2, 8}, 1, Rows::all),
                              b = logits_of(*model, changed, 1, Rows::all);
    for (size_t i = 0; i < 4 * 9; ++i) {
      if (config.mask == "causal") {
        EXPECT_EQ(a[i], b[i]);
      } else {
        EXPECT_NE(a[i], b[i]);
      }
    }
    EXPECT_NE(a[4 * 9], b[4 * 9]);
  }
}

// A weight that is no number, behind the mask, does not reach an earlier row; on both engines.
TEST(Decoder, NotANumberBehindTheMaskDoesNotLeak) {
  std::unique_ptr<Model> d = drawn(small_decoder(), DType::f64), f = drawn(small_decoder(), DType::f32);
  const std::vector<double> clean = logits_of(*d, {1, 4, 7, 2, 8}, 1, Rows::all);
  for (int64_t i = 0; i < 8; ++i) {
    d->parameters().value(0).as<double>()[8 * 8 + i] = std::nan("");
    f->parameters().value(0).as<float>()[8 * 8 + i] = std::nanf("");
  }
  const std::vector<double> dirty = logits_of(*d, {1, 4, 7, 2, 8}, 1, Rows::all);
  const std::vector<float> fast = logits_of<float>(*f, {1, 4, 7, 2, 8}, 1, Rows::all);
  for (size_t i = 0; i < 4 * 9; ++i) {
    EXPECT_EQ(dirty[i], clean[i]);
    EXPECT_NEAR(fast[i], clean[i], 1e-5);
  }
  EXPECT_TRUE(std::isnan(dirty[4 * 9]));
}

// Case 19: tied, the one matrix gets the gradient of both its uses.
TEST(Decoder, TiedGradientIsTheSum) {
  ModelConfig config = small_decoder();
  config.init = "gpt2";
  std::unique_ptr<Model> free = drawn(config, DType::f64);
  config.tied = true;
  std::unique_ptr<Model> tied = drawn(config, DType::f64);
  Parameters &p = free->parameters(), &q = tied->parameters();
  for (int i = 0; i < q.size(); ++i) {
    const int same = p.find(q.info(i).name);
    std::copy_n(q.value(i).as<double>(), q.value(i).count(), p.value(same).as<double>());
  }
  const int head = p.find("head.weight"), tokens = p.find("token_embedding.weight");
  std::copy_n(q.value(0).as<double>(), q.value(0).count(), p.value(head).as<double>());
  std::vector<int32_t> ids = some_ids(), targets = some_targets();
  for (Model* model : {free.get(), tied.get()}) {
    Tape tape({Engine::reference, DType::f64});
    tape.backward(model->loss(tape, {id_tensor(ids, {2, 5}), id_tensor(targets, {2, 5})}, Reduce::mean).loss);
  }
  for (int64_t n = 0; n < q.value(0).count(); ++n)
    EXPECT_NEAR(q.grad(0).at(n), p.grad(tokens).at(n) + p.grad(head).at(n), 1e-14);
}

TEST(Decoder, DropoutIsOffWhereNothingIsRecorded) {
  ModelConfig config = small_decoder();
  const std::vector<double> plain = logits_of(*drawn(config, DType::f64), some_ids(), 2, Rows::all);
  config.dropout = 0.5;
  std::unique_ptr<Model> model = drawn(config, DType::f64);
  EXPECT_EQ(logits_of(*model, some_ids(), 2, Rows::all), plain);
  Tape tape({Engine::reference, DType::f64});
  std::vector<int32_t> ids = some_ids();
  EXPECT_NE(model->forward(tape, id_tensor(ids, {2, 5}), Rows::all).value().at(0), plain[0]);
}

// Residual projections of zero: every block begins as the identity, so the logits are those of no block at
// all.
TEST(Decoder, ZeroInitBeginsAsTheIdentity) {
  ModelConfig config = small_decoder();
  config.zero_init = true;
  std::unique_ptr<Model> two = drawn(config, DType::f64);
  std::unique_ptr<Model> one = make_model(
      [&] {
        ModelConfig c = config;
        c.layers = 1;
        return c;
      }(),
      DType::f64);
  for (int i = 0; i < one->parameters().size(); ++i) {
    const Tensor from = two->parameters().value(two->parameters().find(one->parameters().info(i).name));
    std::copy_n(from.as<double>(), from.count(), one->parameters().value(i).as<double>());
  }
  EXPECT_EQ(logits_of(*two, some_ids(), 2, Rows::all), logits_of(*one, some_ids(), 2, Rows::all));
}

// What a traced pass leaves under a name, over the ids 1 4 7 2 8.
std::vector<double> traced(const Model& model, const std::string& name) {
  Tape tape({Engine::reference, DType::f64, false, true});
  std::vector<int32_t> ids = {1, 4, 7, 2, 8};
  model.forward(tape, id_tensor(ids, {1, 5}), Rows::all);
  for (const auto& [at, value] : tape.named())
    if (at == name) return {value.as<double>(), value.as<double>() + value.count()};
  ADD_FAILURE() << "no " << name;
  return {};
}

double largest(const std::vector<double>& numbers) {
  double most = 0;
  for (double number : numbers) most = std::max(most, std::fabs(number));
  return most;
}

// Two heads four wide: no score is beyond √4, however large the weights; without the norm some are.
TEST(Decoder, QkNormBoundsEveryScore) {
  for (const bool normed : {true, false}) {
    ModelConfig config = small_decoder();
    config.qk_norm = normed;
    std::unique_ptr<Model> model = drawn(config, DType::f64);
    for (const char* name : {"blocks.0.attention.W_Q.weight", "blocks.0.attention.W_K.weight"})
      for (double& weight : model->parameters().value(model->parameters().find(name)).span<double>())
        weight *= 30;
    if (normed) {
      EXPECT_LE(largest(traced(*model, "blocks.0.scores")), 2 + 1e-12);
    } else {
      EXPECT_GT(largest(traced(*model, "blocks.0.scores")), 20);
    }
  }
}

// Two key heads that serve two query heads each are four, of which two and two are equal.
TEST(Decoder, SharedKeyHeadsAreEqualKeyHeads) {
  ModelConfig config = small_decoder();
  config.heads = 4, config.kv_heads = 2;
  std::unique_ptr<Model> shared = drawn(config, DType::f64);
  config.kv_heads = 4;
  std::unique_ptr<Model> each = drawn(config, DType::f64);
  const Parameters &p = shared->parameters(), &q = each->parameters();
  for (int i = 0; i < p.size(); ++i) {
    const std::string& name = p.info(i).name;
    const Tensor from = p.value(i), to = q.value(q.find(name));
    const bool halved = from.count() != to.count();
    EXPECT_EQ(halved, name.find("W_K") != std::string::npos || name.find("W_V") != std::string::npos);
    constexpr int64_t kHead = 2 * 8;  // two rows of eight
    for (int64_t n = 0; n < to.count(); ++n) {
      const int64_t head = n / kHead;
      to.as<double>()[n] = from.at(halved ? head / 2 * kHead + n % kHead : n);
    }
  }
  const std::vector<double> a = logits_of(*shared, some_ids(), 2, Rows::all),
                            b = logits_of(*each, some_ids(), 2, Rows::all);
  for (size_t i = 0; i < a.size(); ++i) EXPECT_NEAR(a[i], b[i], 1e-13);
}

// Post-norm: what leaves a block has mean 0 and deviation 1 in every row. Pre-norm: it is a sum, and has
// neither.
TEST(Decoder, PostNormRowsHaveOneSize) {
  for (const char* place : {"post", "pre"}) {
    ModelConfig config = small_decoder();
    config.norm_place = place;
    const std::vector<double> rows = traced(*drawn(config, DType::f64), "blocks.1.output");
    for (size_t row = 0; row < 5; ++row) {
      double square = 0;
      for (size_t c = 0; c < 8; ++c) square += rows[row * 8 + c] * rows[row * 8 + c] / 8;
      if (config.norm_place == "post") {
        EXPECT_NEAR(square, 1, 1e-3);  // but for ε
      } else {
        EXPECT_GT(std::fabs(square - 1), 1e-2);
      }
    }
  }
}

// The zeroed projections have a gradient at once; what stands before them has none until they have moved.
TEST(Decoder, ZeroInitMovesWithTheFirstGradient) {
  ModelConfig config = small_decoder();
  config.zero_init = true;
  std::unique_ptr<Model> model = drawn(config, DType::f64);
  std::vector<int32_t> ids = some_ids(), targets = some_targets();
  Tape tape({Engine::reference, DType::f64});
  tape.backward(model->loss(tape, {id_tensor(ids, {2, 5}), id_tensor(targets, {2, 5})}, Reduce::mean).loss);
  const Parameters& p = model->parameters();
  for (int i = 0; i < p.size(); ++i) {
    const std::string& name = p.info(i).name;
    if (name.find("blocks.") != 0 || name.find("norm") != std::string::npos) continue;
    const bool output = name.ends_with("W_O.weight") || name.ends_with("down.weight");
    double most = 0;
    for (int64_t n = 0; n < p.grad(i).count(); ++n) most = std::max(most, std::fabs(p.grad(i).at(n)));
    EXPECT_EQ(most > 0, output) << name;
  }
}

// gpt2: 0.02, the projections into the residual by 1/√(2 · 2 layers) of it, gains one, biases zero.
TEST(Decoder, Gpt2InitHasItsSpreads) {
  ModelConfig config = small_decoder();
  config.init = "gpt2", config.d_model = config.hidden = 64, config.bias = config.attention_bias = true;
  std::unique_ptr<Model> model = drawn(config, DType::f64);
  const Parameters& p = model->parameters();
  for (int i = 0; i < p.size(); ++i) {
    const std::string& name = p.info(i).name;
    const Tensor t = p.value(i);
    if (name.find("norm") != std::string::npos || name.ends_with(".bias")) {
      const double want = name.ends_with("norm.weight") ? 1 : 0;
      for (double v : t.span<double>()) ASSERT_EQ(v, want) << name;
      continue;
    }
    if (t.count() < 4096) continue;
    double square = 0;
    for (double v : t.span<double>()) square += v * v;
    const bool residual = name.ends_with("W_O.weight") || name.ends_with("down.weight");
    const double spread = std::sqrt(square / static_cast<double>(t.count()));
    EXPECT_NEAR(spread, residual ? 0.01 : 0.02, 0.04 * 0.02) << name;  // 1/√(2·4096) is 1%
  }
}

TEST(Decoder, NamesOfATrace) {
  std::unique_ptr<Model> model = drawn(small_decoder(), DType::f64);
  Tape tape({Engine::reference, DType::f64, false, true});
  std::vector<int32_t> ids = {1, 4, 7};
  model->forward(tape, id_tensor(ids, {1, 3}), Rows::all);
  std::vector<std::string> names;
  for (const auto& [name, value] : tape.named()) names.push_back(name);
  std::vector<std::string> want = {"X"};
  for (const char* block : {"blocks.0.", "blocks.1."})
    for (const char* name : {"Q", "K", "V", "scores", "masked_scores", "weights", "messages", "updates",
                             "contextual", "hidden", "output"})
      want.push_back(std::string(block) + name);
  want.insert(want.end(), {"final", "logits"});
  EXPECT_EQ(names, want);
  EXPECT_EQ(tape.named()[6].second.shape, (Shape{1, 2, 3, 3}));  // blocks.0.weights [B, H, T, T]
}

// After the first step a training step asks the system for no memory.
TEST(Decoder, AStepAllocatesNothing) {
  std::unique_ptr<Model> model = drawn(small_decoder(), DType::f32);
  Tape tape;
  std::vector<int32_t> ids = some_ids(), targets = some_targets();
  int64_t after_two = 0;
  for (int step = 0; step < 4; ++step) {
    tape.reset();
    tape.backward(model->loss(tape, {id_tensor(ids, {2, 5}), id_tensor(targets, {2, 5})}, Reduce::mean).loss);
    if (step == 1) after_two = tape.arena().system_calls();
  }
  EXPECT_EQ(tape.arena().system_calls(), after_two);
}

// Without records the blocks use the same memory one after another: ten need little more than two.
TEST(Decoder, EvaluationKeepsOneBlockAtATime) {
  const auto held = [](int64_t layers, bool record) {
    ModelConfig config = small_decoder();
    config.layers = layers, config.context = 64;
    std::unique_ptr<Model> model = drawn(config, DType::f32);
    Tape tape({Engine::fast, DType::f32, record});
    std::vector<int32_t> ids(8 * 64, 3), targets(8 * 64, 5);
    for (int pass = 0; pass < 2; ++pass) {
      tape.reset();
      model->loss(tape, {id_tensor(ids, {8, 64}), id_tensor(targets, {8, 64})}, Reduce::mean);
    }
    return static_cast<double>(tape.arena().held());
  };
  EXPECT_LT(held(10, false), 1.4 * held(2, false));
  EXPECT_GT(held(10, true), 3 * held(2, true));
}

TEST(Decoder, AnEncoderGeneratesNothing) {
  ModelConfig config = small_decoder();
  config.mask = "none";
  try {
    drawn(config, DType::f32)->make_cache(1, 4);
    FAIL();
  } catch (const Refusal& e) {
    EXPECT_NE(std::string(e.what()).find("model.mask = \"none\""), std::string::npos);
  }
}

}  // namespace
}  // namespace tril
