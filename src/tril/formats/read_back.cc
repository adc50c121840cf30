#include "tril/formats/read_back.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <vector>

namespace tril {
namespace {

std::vector<double> logits_of(const Model& model, const Tensor& ids) {
  TapeOptions options;
  options.dtype = model.parameters().dtype();
  options.engine = options.dtype == DType::f64 ? Engine::reference : Engine::fast;
  options.record = false;
  Tape tape(options);
  const Tensor logits = model.forward(tape, ids, Rows::all).value();
  std::vector<double> out(static_cast<size_t>(logits.count()));
  for (size_t i = 0; i < out.size(); ++i) out[i] = logits.at(static_cast<int64_t>(i));
  return out;
}

}  // namespace

LogitDifference logit_difference(const Model& a, const Model& b) {
  assert(a.config().vocab_size == b.config().vocab_size);
  constexpr int64_t kMost = 32, kStride = 7919;
  const int64_t count = std::min(kMost, a.config().context);
  std::vector<int32_t> ids;
  for (int64_t i = 0; i < count; ++i)
    ids.push_back(static_cast<int32_t>((i + 1) * kStride % a.config().vocab_size));
  const Tensor batch{{1, count}, DType::i32, ids.data()};
  const std::vector<double> left = logits_of(a, batch), right = logits_of(b, batch);
  LogitDifference found;
  found.positions = count;
  for (size_t i = 0; i < left.size(); ++i) {
    const double difference = std::fabs(left[i] - right[i]);
    if (difference > found.largest || std::isnan(difference)) found.largest = difference;
    if (std::isnan(found.largest)) return found;
    found.scale = std::max(found.scale, std::fabs(left[i]));
  }
  return found;
}

}  // namespace tril
