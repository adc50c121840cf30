#include "tril/train/optimizer.h"

#include <algorithm>
#include <cassert>
#include <cmath>

#include "tril/base/memory.h"
#include "tril/base/threads.h"
#include "tril/ops/rows.h"
#include "tril/train/muon.h"

namespace tril {
namespace {
constexpr int64_t kPiece = 1 << 16;
}

Optimizer::Optimizer(Parameters& parameters, const TrainSettings& settings, Engine engine)
    : parameters_(parameters), settings_(settings), engine_(engine), ranges_(parameters.trained_ranges()) {
  const int64_t whole = parameters.flat_values().count();
  int64_t total = 0;
  for (int i = 0; i < parameters.size(); ++i) {
    const ParameterInfo& info = parameters.info(i);
    moments_.push_back(info.frozen ? -1 : total);
    if (info.frozen) continue;
    const int64_t end = i + 1 < parameters.size() ? parameters.info(i + 1).offset : whole, moment = total;
    total += end - info.offset;
    if (!has_moment2(i)) {
      matrices_.push_back({info.offset, info.shape[0], info.shape[1], moment});
      continue;
    }
    const bool decays = settings.decay == "all" || info.shape.rank() >= 2;
    if (!spans_.empty() && spans_.back().decays == decays &&
        spans_.back().offset + spans_.back().count == info.offset) {
      spans_.back().count = end - spans_.back().offset;
    } else {
      spans_.push_back({info.offset, end - info.offset, moment, decays});
    }
  }
  char* const grads = static_cast<char*>(parameters.flat_grads().data);
  const int64_t size = size_of(parameters.dtype());
  for (const auto& [offset, count] : ranges_)
    prefer_large_pages(grads + offset * size, static_cast<size_t>(count * size));
  const Tensor both = memory_.zeros({2, total}, parameters.dtype());
  moment1_ = {{total}, parameters.dtype(), both.data};
  moment2_ = {{total}, parameters.dtype(), static_cast<char*>(both.data) + moment1_.bytes()};
}

Tensor Optimizer::view(const Tensor& moments, int parameter) const {
  const int64_t start = moments_[static_cast<size_t>(parameter)];
  assert(start >= 0);
  return {parameters_.info(parameter).shape, moments.dtype,
          static_cast<char*>(moments.data) + start * size_of(moments.dtype)};
}

bool Optimizer::has_moment2(int parameter) const {
  return settings_.optimizer != "muon" || !muon_takes(parameters_.info(parameter));
}

double Optimizer::gradient_norm() const {
  const Tensor grads = parameters_.flat_grads();
  double sum = 0;
  if (parameters_.dtype() == DType::f64 || engine_ == Engine::reference) {
    for (const auto& [offset, count] : ranges_)
      for (int64_t i = offset; i < offset + count; ++i) sum += grads.at(i) * grads.at(i);
    return std::sqrt(sum);
  }
  for (const auto& [offset, count] : ranges_) {
    const float* const start = grads.as<float>() + offset;
    const int64_t n = count, pieces = pieces_of(n, kPiece);
    std::vector<double> sums(static_cast<size_t>(pieces));
    parallel_for(pieces, [&](int64_t piece) {
      const int64_t at = piece * kPiece;
      sums[static_cast<size_t>(piece)] = rows::sum_squares(start + at, std::min(kPiece, n - at));
    });
    for (double part : sums) sum += part;
  }
  return std::sqrt(sum);
}

void Optimizer::update(int64_t step, double learning_rate, double gradient_norm) {
  const double scale = settings_.clip > 0 ? std::min(1.0, settings_.clip / (gradient_norm + 1e-6)) : 1.0;
  if (!matrices_.empty())
    update_matrices(learning_rate / settings_.learning_rate * settings_.muon_learning_rate, scale);
  for (const Span& span : spans_) {
    if (engine_ == Engine::fast) {
      update_fast(span, settings_, learning_rate, scale, step);
    } else {
      with_real(parameters_.dtype(), [&](auto zero) {
        update_plain<decltype(zero)>(span, settings_, learning_rate, scale, step);
      });
    }
  }
}

// One matrix is one thread's, so that the bits do not depend on how many there are.
void Optimizer::update_matrices(double rate, double scale) {
  const MuonStep step{rate, settings_.momentum, settings_.weight_decay, scale};
  const Tensor w = parameters_.flat_values(), g = parameters_.flat_grads();
  const auto run = [&](const Matrix& m, auto zero, const auto& body) {
    using T = decltype(zero);
    body(step, m.rows, m.cols, w.as<T>() + m.offset, g.as<T>() + m.offset, moment1_.as<T>() + m.moment,
         moment2_.as<T>() + m.moment);
  };
  if (engine_ == Engine::fast) {
    parallel_for(static_cast<int64_t>(matrices_.size()),
                 [&](int64_t i) { run(matrices_[static_cast<size_t>(i)], float{}, muon_step_fast); });
    return;
  }
  with_real(w.dtype, [&](auto zero) {
    for (const Matrix& m : matrices_) run(m, zero, muon_step<decltype(zero)>);
  });
}

template <class T>
void Optimizer::update_plain(const Span& span, const TrainSettings& s, double rate, double scale,
                             int64_t step) {
  T* w = parameters_.flat_values().as<T>() + span.offset;
  const T* gradient = parameters_.flat_grads().as<T>() + span.offset;
  T *m = moment1_.as<T>() + span.moment, *v = moment2_.as<T>() + span.moment;
  const bool decoupled = s.optimizer != "adam";
  const double decay = span.decays ? s.weight_decay : 0;
  const double bias1 = 1 - std::pow(s.beta1, static_cast<double>(step));
  const double root_bias2 = std::sqrt(1 - std::pow(s.beta2, static_cast<double>(step)));
  for (int64_t i = 0; i < span.count; ++i) {
    const T g = static_cast<T>(gradient[i] * scale + (decoupled ? 0 : decay * w[i]));
    m[i] = static_cast<T>(m[i] + (1 - s.beta1) * (g - m[i]));
    v[i] = static_cast<T>(s.beta2 * v[i] + (1 - s.beta2) * g * g);
    const double shrunk = decoupled ? w[i] * (1 - rate * decay) : w[i];
    w[i] = static_cast<T>(shrunk - rate / bias1 * m[i] / (std::sqrt(v[i]) / root_bias2 + s.epsilon));
  }
}

void Optimizer::update_fast(const Span& span, const TrainSettings& s, double rate, double scale,
                            int64_t step) {
  float* w = parameters_.flat_values().as<float>() + span.offset;
  const float* gradient = parameters_.flat_grads().as<float>() + span.offset;
  float *m = moment1_.as<float>() + span.moment, *v = moment2_.as<float>() + span.moment;
  const bool decoupled = s.optimizer != "adam";
  const double decay = span.decays ? s.weight_decay : 0;
  rows::AdamStep adam;
#if defined(TRIL_BREAK_UPDATE)
  adam.learning_rate = static_cast<float>(-rate);
#else
  adam.learning_rate = static_cast<float>(rate);
#endif
  adam.beta2 = static_cast<float>(s.beta2);
  adam.fresh1 = static_cast<float>(1 - s.beta1), adam.fresh2 = static_cast<float>(1 - s.beta2);
  adam.epsilon = static_cast<float>(s.epsilon);
  adam.shrink = static_cast<float>(decoupled ? 1 - rate * decay : 1);
  adam.l2 = static_cast<float>(decoupled ? 0 : decay);
  adam.grad_scale = static_cast<float>(scale);
  adam.bias1 = static_cast<float>(1 - std::pow(s.beta1, static_cast<double>(step)));
  adam.root_bias2 = static_cast<float>(std::sqrt(1 - std::pow(s.beta2, static_cast<double>(step))));
  parallel_for(pieces_of(span.count, kPiece), [&](int64_t piece) {
    const int64_t at = piece * kPiece;
    rows::adam(adam, w + at, gradient + at, m + at, v + at, std::min(kPiece, span.count - at));
  });
}

}  // namespace tril
