#include "tril/ops/relu.h"

#include <algorithm>

#include "tril/base/threads.h"
#include "tril/ops/rows.h"

namespace tril {
namespace {

template <class T>
void forward(int64_t n, const T* x, T* y) {
  for (int64_t i = 0; i < n; ++i) y[i] = x[i] < 0 ? T{0} : x[i];
}

template <class T>
void backward(int64_t n, const T* y, const T* dy, T* dx) {
  for (int64_t i = 0; i < n; ++i)
    if (y[i] > 0) dx[i] += dy[i];
}

constexpr int64_t kChunk = 1 << 14;

void forward_fast(int64_t n, const float* x, float* y) {
  parallel_for(pieces_of(n, kChunk), [&](int64_t piece) {
    rows::relu(x + piece * kChunk, y + piece * kChunk, std::min(kChunk, n - piece * kChunk));
  });
}

void backward_fast(int64_t n, const float* y, const float* dy, Share<float> dx) {
  parallel_for(pieces_of(n, kChunk), [&](int64_t piece) {
    const int64_t start = piece * kChunk;
    const int64_t count = std::min(kChunk, n - start);
    if (dx.add) return rows::relu_backward(y + start, dy + start, dx.at + start, count);
    rows::keep_positive(y + start, dy + start, dx.at + start, count);
  });
}

}  // namespace

Var relu(Tape& tape, Var x) {
  const OpScope scope(tape, "relu", {x});
  Var y = tape.make(x.shape(), x.wants_grad());
  if (tape.counting()) return y;
  const int64_t n = x.count();
  if (tape.fast()) {
    forward_fast(n, x.v<float>(), y.v<float>());
    if (y.wants_grad())
      tape.on_backward([=] { backward_fast(n, y.v<float>(), y.g<float>(), x.share<float>()); });
    return y;
  }
  with_real(tape.dtype(), [&](auto zero) {
    using T = decltype(zero);
    forward(n, x.v<T>(), y.v<T>());
    if (y.wants_grad()) tape.on_backward([=] { backward(n, y.v<T>(), y.g<T>(), x.g<T>()); });
  });
  return y;
}

const OpSpec relu_spec{
    .name = "relu",
    .torch = "torch.nn.functional.relu",
    .arguments = {{"x"}},
    .call = [](Tape& tape, std::span<const Var> in, const Attributes&) { return relu(tape, in[0]); },
    .cases = {{{{0, 8}}}, {{{1, 1}}}, {{{3, 5}}}, {{{7, 129}}}},
    .kink_at_zero = true};

}  // namespace tril
