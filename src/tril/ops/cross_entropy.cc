#include "tril/ops/cross_entropy.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "tril/base/threads.h"
#include "tril/ops/rows.h"

namespace tril {
namespace {

// lse [R] is kept for backward.
template <class T>
void forward(int64_t rows, int64_t cols, const T* x, const int32_t* target, T* lse, T* loss) {
  T sum = 0;
  for (int64_t r = 0; r < rows; ++r) {
    if (target[r] < 0) continue;
    T top = -std::numeric_limits<T>::infinity();
    for (int64_t c = 0; c < cols; ++c) top = std::max(top, x[r * cols + c]);
    T exps = 0;
    for (int64_t c = 0; c < cols; ++c) exps += std::exp(x[r * cols + c] - top);
    lse[r] = top + std::log(exps);
    sum += lse[r] - x[r * cols + target[r]];
  }
  *loss = sum;
}

template <class T>
void backward(int64_t rows, int64_t cols, const T* x, const int32_t* target, const T* lse, T factor, T* dx) {
  for (int64_t r = 0; r < rows; ++r) {
    if (target[r] < 0) continue;
    for (int64_t c = 0; c < cols; ++c) dx[r * cols + c] += factor * std::exp(x[r * cols + c] - lse[r]);
    dx[r * cols + target[r]] -= factor;
  }
}

// The rows' losses are summed in order, in double, after all pieces are done.
void forward_fast(int64_t rows, int64_t cols, const float* x, const int32_t* target, float* lse,
                  float* loss) {
  const int64_t grain = rows_per_piece(8 * cols);
  parallel_for(pieces_of(rows, grain), [&](int64_t piece) {
    for (int64_t r = piece * grain; r < std::min(rows, (piece + 1) * grain); ++r) {
      if (target[r] < 0) continue;
#if defined(TRIL_BREAK_LOSS_SHIFT)
      const float top = 0;
#else
      const float top = rows::max(x + r * cols, cols);
#endif
      lse[r] = top + std::log(rows::exp_sum_only(x + r * cols, top, cols));
    }
  });
  double sum = 0;
  for (int64_t r = 0; r < rows; ++r)
    if (target[r] >= 0) sum += static_cast<double>(lse[r]) - x[r * cols + target[r]];
  *loss = static_cast<float>(sum);
}

void backward_fast(int64_t rows, int64_t cols, const float* x, const int32_t* target, const float* lse,
                   float factor, float* dx) {
  const int64_t grain = rows_per_piece(8 * cols);
  parallel_for(pieces_of(rows, grain), [&](int64_t piece) {
    for (int64_t r = piece * grain; r < std::min(rows, (piece + 1) * grain); ++r) {
      if (target[r] < 0) continue;
      rows::axpy_exp(factor, x + r * cols, lse[r], dx + r * cols, cols);
      dx[r * cols + target[r]] -= factor;
    }
  });
}

}  // namespace

CrossEntropy cross_entropy(Tape& tape, Var logits, Var targets, Reduce reduce) {
  const OpScope scope(tape, "cross_entropy", {logits, targets});
  const int64_t rows = logits.rows(), cols = logits.cols();
  if (targets.count() != rows)
    shape_error("cross_entropy", "targets", targets.shape(),
                std::to_string(rows) + " ids, one a row of logits");
  const int32_t* target = targets.v<int32_t>();
  const int64_t counted = std::count_if(target, target + rows, [](int32_t t) { return t >= 0; });
  Var loss = tape.make({}, logits.wants_grad());
  const Tensor lse = tape.arena().tensor({rows}, tape.dtype());
  if (tape.counting()) return {loss, counted};
  const double share = counted == 0 ? 0 : reduce == Reduce::mean ? 1.0 / static_cast<double>(counted) : 1.0;
  with_real(tape.dtype(), [&](auto zero) {
    using T = decltype(zero);
    const bool fast = tape.fast();
    if constexpr (std::is_same_v<T, float>) {
      if (fast) forward_fast(rows, cols, logits.v<T>(), target, lse.as<T>(), loss.v<T>());
    }
    if (!fast) forward(rows, cols, logits.v<T>(), target, lse.as<T>(), loss.v<T>());
    *loss.v<T>() = static_cast<T>(*loss.v<T>() * share);
    if (!loss.wants_grad()) return;
    tape.on_backward([=] {
      const T factor = static_cast<T>(*loss.g<T>() * share);
      if (factor == 0) return;
      if constexpr (std::is_same_v<T, float>) {
        if (fast) return backward_fast(rows, cols, logits.v<T>(), target, lse.as<T>(), factor, logits.g<T>());
      }
      backward(rows, cols, logits.v<T>(), target, lse.as<T>(), factor, logits.g<T>());
    });
  });
  return {loss, counted};
}

const OpSpec cross_entropy_spec{.name = "cross_entropy",
                                .torch = "torch.nn.functional.cross_entropy",
                                .arguments = {{"logits"}, {"targets", true}},
                                .call =
                                    [](Tape& tape, std::span<const Var> in, const Attributes& a) {
                                      const Reduce reduce =
                                          attribute(a, "sum", 0) != 0 ? Reduce::sum : Reduce::mean;
                                      return cross_entropy(tape, in[0], in[1], reduce).loss;
                                    },
                                .cases = {{{{0, 8}, {0}}, {}, 8},
                                          {{{1, 1}, {1}}, {}, 1},
                                          {{{3, 5}, {3}}, {}, 5},
                                          {{{2, 3, 7}, {2, 3}}, {{"sum", 1}}, 7},
                                          {{{7, 129}, {7}}, {{"ignore_index", -1}}, 129}}};

}  // namespace tril
