#include "tril/ops/softmax.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "tril/base/threads.h"
#include "tril/ops/rows.h"

namespace tril {
namespace {

template <class T>
void forward(int64_t rows, int64_t cols, const T* x, T* y) {
  for (int64_t r = 0; r < rows; ++r) {
    const T* in = x + r * cols;
    T* out = y + r * cols;
    T top = -std::numeric_limits<T>::infinity();
    for (int64_t c = 0; c < cols; ++c) top = std::isnan(in[c]) || in[c] > top ? in[c] : top;
    const T shift = top == -std::numeric_limits<T>::infinity() ? T{0} : top;
    T sum = 0;
    for (int64_t c = 0; c < cols; ++c) sum += out[c] = std::exp(in[c] - shift);
    for (int64_t c = 0; c < cols; ++c) out[c] = sum == 0 ? T{0} : out[c] / sum;
  }
}

template <class T>
void backward(int64_t rows, int64_t cols, const T* y, const T* dy, T* dx) {
  for (int64_t r = 0; r < rows; ++r) {
    T mean = 0;
    for (int64_t c = 0; c < cols; ++c) mean += y[r * cols + c] * dy[r * cols + c];
    for (int64_t c = 0; c < cols; ++c) dx[r * cols + c] += y[r * cols + c] * (dy[r * cols + c] - mean);
  }
}

void forward_fast(int64_t rows, int64_t cols, const float* x, float* y) {
  const int64_t grain = rows_per_piece(4 * cols);
  parallel_for(pieces_of(rows, grain), [&](int64_t piece) {
    for (int64_t r = piece * grain; r < std::min(rows, (piece + 1) * grain); ++r) {
#if defined(TRIL_BREAK_SOFTMAX_SHIFT)
      const float top = 0;
#else
      const float top = rows::max(x + r * cols, cols);
#endif
      const float shift = top == -std::numeric_limits<float>::infinity() ? 0 : top;
      const float sum = rows::exp_sum(x + r * cols, shift, y + r * cols, cols);
      rows::scale(y + r * cols, sum == 0 ? 0 : 1 / sum, y + r * cols, cols);
    }
  });
}

void backward_fast(int64_t rows, int64_t cols, const float* y, const float* dy, float* dx) {
  const int64_t grain = rows_per_piece(2 * cols);
  parallel_for(pieces_of(rows, grain), [&](int64_t piece) {
    for (int64_t r = piece * grain; r < std::min(rows, (piece + 1) * grain); ++r) {
      const float mean = rows::dot(y + r * cols, dy + r * cols, cols);
      rows::softmax_backward(y + r * cols, dy + r * cols, mean, dx + r * cols, cols);
    }
  });
}

}  // namespace

Var softmax(Tape& tape, Var x) {
  const OpScope scope(tape, "softmax", {x});
  Var y = tape.make(x.shape(), x.wants_grad());
  if (tape.counting()) return y;
  const int64_t rows = x.rows(), cols = x.cols();
  if (x.count() == 0) return y;
  if (tape.fast()) {
    forward_fast(rows, cols, x.v<float>(), y.v<float>());
    if (y.wants_grad())
      tape.on_backward([=] { backward_fast(rows, cols, y.v<float>(), y.g<float>(), x.g<float>()); });
    return y;
  }
  with_real(tape.dtype(), [&](auto zero) {
    using T = decltype(zero);
    forward(rows, cols, x.v<T>(), y.v<T>());
    if (y.wants_grad()) tape.on_backward([=] { backward(rows, cols, y.v<T>(), y.g<T>(), x.g<T>()); });
  });
  return y;
}

const OpSpec softmax_spec{
    .name = "softmax",
    .torch = "torch.softmax",
    .arguments = {{"x"}},
    .call = [](Tape& tape, std::span<const Var> in, const Attributes&) { return softmax(tape, in[0]); },
    .cases = {{{{0, 8}}}, {{{1, 1}}}, {{{3, 5}}}, {{{2, 2, 17}}}, {{{7, 129}}}}};

}  // namespace tril
