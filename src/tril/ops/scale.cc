#include "tril/ops/scale.h"

#include <algorithm>

#include "tril/base/threads.h"
#include "tril/ops/rows.h"

namespace tril {
namespace {

template <class T>
void forward(int64_t n, T a, const T* x, T* y) {
  for (int64_t i = 0; i < n; ++i) y[i] = a * x[i];
}

template <class T>
void backward(int64_t n, T a, const T* dy, T* dx) {
  for (int64_t i = 0; i < n; ++i) dx[i] += a * dy[i];
}

constexpr int64_t kChunk = 1 << 15;

void forward_fast(int64_t n, float a, const float* x, float* y) {
  parallel_for(pieces_of(n, kChunk), [&](int64_t piece) {
    rows::scale(x + piece * kChunk, a, y + piece * kChunk, std::min(kChunk, n - piece * kChunk));
  });
}

void backward_fast(int64_t n, float a, const float* dy, float* dx) {
  parallel_for(pieces_of(n, kChunk), [&](int64_t piece) {
    rows::axpy(a, dy + piece * kChunk, dx + piece * kChunk, std::min(kChunk, n - piece * kChunk));
  });
}

}  // namespace

Var scale(Tape& tape, Var x, double a) {
  const OpScope scope(tape, "scale", {x});
  Var y = tape.make(x.shape(), x.wants_grad());
  if (tape.counting()) return y;
  const int64_t n = x.count();
  if (tape.fast()) {
    const float factor = static_cast<float>(a);
    forward_fast(n, factor, x.v<float>(), y.v<float>());
    if (y.wants_grad()) tape.on_backward([=] { backward_fast(n, factor, y.g<float>(), x.g<float>()); });
    return y;
  }
  with_real(tape.dtype(), [&](auto zero) {
    using T = decltype(zero);
    const T factor = static_cast<T>(a);
    forward(n, factor, x.v<T>(), y.v<T>());
    if (y.wants_grad()) tape.on_backward([=] { backward(n, factor, y.g<T>(), x.g<T>()); });
  });
  return y;
}

const OpSpec scale_spec{
    .name = "scale",
    .torch = "torch.mul",
    .arguments = {{"x"}},
    .call = [](Tape& tape, std::span<const Var> in,
               const Attributes& a) { return scale(tape, in[0], attribute(a, "factor", 0.5)); },
    .cases = {{{{0, 8}}}, {{{1, 1}}}, {{{3, 5}}, {{"factor", -1.25}}}, {{{7, 129}}, {{"factor", 0.125}}}}};

}  // namespace tril
