// unary: what the ops that map each number on its own share (relu2, gelu, softcap, …): the loops, the cutting
// for threads, the record on the tape. What it leaves out: the function, which is the op's own file.
//   y[i]   = f(x[i])
//   dx[i] += dy[i] f'(x[i])
#pragma once
#include <algorithm>
#include <type_traits>

#include "tril/base/threads.h"
#include "tril/ops/op.h"

namespace tril {

/// `F` is a small value with the op's name kName, and T value(T x), T slope(T x) for float and double, the
/// definition; and over rows of float, vectorised, fast(x, y, n) and fast_backward(x, y, dy, dx, n).
template <class F>
Var unary(F f, Tape& tape, Var x) {
  const OpScope scope(tape, F::kName, {x});
  Var y = tape.make(x.shape(), x.wants_grad());
  if (tape.counting()) return y;
  const int64_t n = x.count();
  if (tape.fast()) {
    constexpr int64_t kChunk = 1 << 14;
    parallel_for(pieces_of(n, kChunk), [&](int64_t piece) {
      const int64_t start = piece * kChunk;
      f.fast(x.v<float>() + start, y.v<float>() + start, std::min(kChunk, n - start));
    });
    if (y.wants_grad())
      tape.on_backward([=] {
        const float* dy = y.g<float>();
        const Share<float> dx = x.share<float>();
        parallel_for(pieces_of(n, kChunk), [&](int64_t piece) {
          const int64_t start = piece * kChunk, count = std::min(kChunk, n - start);
          if (!dx.add) std::fill_n(dx.at + start, count, 0.0f);
          f.fast_backward(x.v<float>() + start, y.v<float>() + start, dy + start, dx.at + start, count);
        });
      });
    return y;
  }
  with_real(tape.dtype(), [&](auto zero) {
    using T = decltype(zero);
    for (int64_t i = 0; i < n; ++i) y.v<T>()[i] = f.value(x.v<T>()[i]);
    if (y.wants_grad())
      tape.on_backward([=] {
        T* dx = x.g<T>();
        for (int64_t i = 0; i < n; ++i) dx[i] += y.g<T>()[i] * f.slope(x.v<T>()[i]);
      });
  });
  return y;
}

}  // namespace tril
