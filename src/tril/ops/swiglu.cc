#include "tril/ops/swiglu.h"

#include <algorithm>
#include <cmath>

#include "tril/base/threads.h"
#include "tril/ops/rows_maps.h"

namespace tril {
namespace {

template <class T>
T sigmoid(T x) {
  return 1 / (1 + std::exp(-x));
}

template <class T>
void forward(int64_t n, const T* gate, const T* up, T* y) {
  for (int64_t i = 0; i < n; ++i) y[i] = gate[i] * sigmoid(gate[i]) * up[i];
}

template <class T>
void backward(int64_t n, const T* gate, const T* up, const T* dy, T* dgate, T* dup) {
  for (int64_t i = 0; i < n; ++i) {
    const T s = sigmoid(gate[i]);
    if (dgate != nullptr) dgate[i] += dy[i] * up[i] * s * (1 + gate[i] * (1 - s));
    if (dup != nullptr) dup[i] += dy[i] * gate[i] * s;
  }
}

constexpr int64_t kChunk = 1 << 14, kBlock = 1024;  // a piece of a thread; what stays in the first cache

void forward_fast(int64_t n, const float* gate, const float* up, float* y) {
  parallel_for(pieces_of(n, kChunk), [&](int64_t piece) {
    const int64_t start = piece * kChunk, count = std::min(kChunk, n - start);
    rows::silu(gate + start, y + start, count);
    rows::multiply(up + start, y + start, count);
  });
}

void backward_fast(int64_t n, const float* gate, const float* up, const float* dy, float* dgate, float* dup) {
  parallel_for(pieces_of(n, kBlock), [&](int64_t piece) {
    const int64_t start = piece * kBlock, count = std::min(kBlock, n - start);
    float inner[kBlock];
    if (dgate != nullptr) {
      std::copy_n(dy + start, count, inner);
      rows::multiply(up + start, inner, count);
      rows::silu_backward(gate + start, inner, dgate + start, count);
    }
    if (dup == nullptr) return;
    rows::silu(gate + start, inner, count);
    rows::multiply_add(dy + start, inner, dup + start, count);
  });
}

}  // namespace

Var swiglu(Tape& tape, Var gate, Var up) {
  const OpScope scope(tape, "swiglu", {gate, up});
  require_shape("swiglu", "up", up.shape(), gate.shape());
  Var y = tape.make(gate.shape(), gate.wants_grad() || up.wants_grad());
  if (tape.counting()) return y;
  const int64_t n = y.count();
  if (tape.fast()) {
    forward_fast(n, gate.v<float>(), up.v<float>(), y.v<float>());
    if (y.wants_grad())
      tape.on_backward([=] {
        backward_fast(n, gate.v<float>(), up.v<float>(), y.g<float>(), gate.g<float>(), up.g<float>());
      });
    return y;
  }
  with_real(tape.dtype(), [&](auto zero) {
    using T = decltype(zero);
    forward(n, gate.v<T>(), up.v<T>(), y.v<T>());
    if (y.wants_grad())
      tape.on_backward([=] { backward(n, gate.v<T>(), up.v<T>(), y.g<T>(), gate.g<T>(), up.g<T>()); });
  });
  return y;
}

const OpSpec swiglu_spec{
    .name = "swiglu",
    .torch = "torch.nn.functional.silu, times",
    .arguments = {{"gate"}, {"up"}},
    .call = [](Tape& tape, std::span<const Var> in, const Attributes&) { return swiglu(tape, in[0], in[1]); },
    .cases = {{{{0, 8}, {0, 8}}},
              {{{1, 1}, {1, 1}}},
              {{{3, 5}, {3, 5}}},
              {{{2, 2, 17}, {2, 2, 17}}},
              {{{129, 131}, {129, 131}}}}};

}  // namespace tril
