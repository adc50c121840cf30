#include "tril/model/model.h"

#include <algorithm>
#include <cassert>
#include <vector>

#include "tril/base/error.h"

namespace tril {
namespace {

// Draws floats and stores them as the parameter's type.
template <class Draw>
void draw(const Tensor& out, const Draw& into) {
  if (out.dtype == DType::f32) return into(out.span<float>());
  std::vector<float> drawn(static_cast<size_t>(out.count()));
  into(std::span<float>(drawn));
  std::copy(drawn.begin(), drawn.end(), out.as<double>());
}

}  // namespace

void draw_normal(TorchGenerator& random, const Tensor& out, double mean, double deviation) {
  draw(out, [&](std::span<float> numbers) { random.normal(numbers, mean, deviation); });
}

void draw_linear_weight(TorchGenerator& random, const Tensor& out) {
#if defined(TRIL_BREAK_FIRST_WEIGHTS)
  draw(out, [&](std::span<float> numbers) { random.normal(numbers, 0, 0.5); });
#else
  draw(out, [&](std::span<float> numbers) { random.linear_weight(numbers, out.shape.cols()); });
#endif
}

void draw_linear_bias(TorchGenerator& random, const Tensor& out, int64_t fan_in) {
  draw(out, [&](std::span<float> numbers) { random.linear_bias(numbers, fan_in); });
}

void zero_row(const Tensor& table, int64_t row) {
  with_real(table.dtype, [&](auto zero) {
    auto* start = table.as<decltype(zero)>() + row * table.shape.cols();
    std::fill(start, start + table.shape.cols(), zero);
  });
}

void Model::initialize(PythonRandom& /*random*/) {
  refuse("train.random = python draws weights of the decoder family alone; model.family is {}",
         config_.family);
}

std::unique_ptr<Cache> Model::make_cache(int64_t /*batch*/, int64_t /*capacity*/) const {
  return nullptr;
}

Var Model::step(Tape& tape, const Tensor& ids, Cache& /*cache*/, Rows rows) const {
  assert(false && "a family without a cache");
  return forward(tape, ids, rows);
}

CrossEntropy Model::loss(Tape& tape, const Batch& batch, Reduce reduce) const {
  Var logits = forward(tape, batch.ids, one_target() ? Rows::last : Rows::all);
  return cross_entropy(tape, logits, tape.constant(batch.targets), reduce);
}

}  // namespace tril
