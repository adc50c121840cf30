#include "tril/train/muon.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "tril/ops/gemm.h"
#include "tril/ops/rows.h"

namespace tril {
namespace {

constexpr double kA = 3.4445, kB = -4.7750, kC = 2.0315;
constexpr int kRounds = 5;
constexpr double kSmallest = 1e-7;  // a gradient of zeros stays one

double shape_scale(int64_t rows, int64_t cols) {
  return std::sqrt(std::max(1.0, static_cast<double>(rows) / static_cast<double>(cols)));
}

/// The rounds on x of norm ≤ 1, with `other` of the same size; gives the one of the two that holds the
/// result. The square A is of the shorter side: X Xᵀ from the left, or Xᵀ X from the right, which is the same
/// map.
template <class T, class Product>
T* orthogonalise(int64_t rows, int64_t cols, T* x, T* other, const Product& product) {
  const bool left = rows <= cols;
  const int64_t side = std::min(rows, cols);
  static thread_local std::vector<T> squares;
  squares.resize(static_cast<size_t>(2 * side * side));
  T *a = squares.data(), *b = a + side * side;
  const Transpose yes = Transpose::yes, no = Transpose::no;
  for (int round = 0; round < kRounds; ++round) {
    product({.ta = left ? no : yes, .tb = left ? yes : no, .m = side, .n = side, .k = std::max(rows, cols)},
            x, x, a);
    std::copy_n(a, side * side, b);
    product({.m = side, .n = side, .k = side, .alpha = kC, .beta = kB}, a, a, b);
    std::copy_n(x, rows * cols, other);
    product({.m = rows, .n = cols, .k = side, .beta = kA}, left ? b : x, left ? x : b, other);
    std::swap(x, other);
  }
  return x;
}

}  // namespace

bool muon_takes(const ParameterInfo& parameter) {
  const std::string& name = parameter.name;
  return parameter.shape.rank() == 2 && name.find("embedding") == std::string::npos &&
         !name.ends_with("head.weight");
}

template <class T>
void muon_step(const MuonStep& step, int64_t rows, int64_t cols, T* weight, T* gradient, T* momentum,
               T* scratch) {
  const int64_t n = rows * cols;
  double squares = 0;
  for (int64_t i = 0; i < n; ++i) {
    const T g = static_cast<T>(gradient[i] * step.grad_scale);
    momentum[i] = static_cast<T>(momentum[i] + (1 - step.momentum) * (g - momentum[i]));
    gradient[i] = static_cast<T>(g + step.momentum * (momentum[i] - g));
    squares += static_cast<double>(gradient[i]) * static_cast<double>(gradient[i]);
  }
  const double norm = std::max(std::sqrt(squares), kSmallest);
  for (int64_t i = 0; i < n; ++i) gradient[i] = static_cast<T>(gradient[i] / norm);
  const T* x =
      orthogonalise<T>(rows, cols, gradient, scratch,
                       [](const Gemm& g, const T* p, const T* q, T* r) { gemm_reference<T>(g, p, q, r); });
  const double scaled = step.rate * shape_scale(rows, cols), shrink = 1 - step.rate * step.weight_decay;
  for (int64_t i = 0; i < n; ++i) weight[i] = static_cast<T>(weight[i] * shrink - scaled * x[i]);
}
template void muon_step<float>(const MuonStep&, int64_t, int64_t, float*, float*, float*, float*);
template void muon_step<double>(const MuonStep&, int64_t, int64_t, double*, double*, double*, double*);

void muon_step_fast(const MuonStep& step, int64_t rows, int64_t cols, float* weight, float* gradient,
                    float* momentum, float* scratch) {
  const int64_t n = rows * cols;
  const float keep = static_cast<float>(step.momentum), fresh = static_cast<float>(1 - step.momentum),
              scale = static_cast<float>(step.grad_scale);
  rows::scale(momentum, keep, momentum, n);
  rows::axpy(fresh * scale, gradient, momentum, n);
  rows::scale(gradient, fresh * scale, gradient, n);
  rows::axpy(keep, momentum, gradient, n);
  const double norm = std::max(std::sqrt(rows::sum_squares(gradient, n)), kSmallest);
  rows::scale(gradient, static_cast<float>(1 / norm), gradient, n);
  const float* x = orthogonalise<float>(rows, cols, gradient, scratch, gemm_one_thread);
  rows::scale(weight, static_cast<float>(1 - step.rate * step.weight_decay), weight, n);
  rows::axpy(static_cast<float>(-step.rate * shape_scale(rows, cols)), x, weight, n);
}

}  // namespace tril
