#include "tril/ops/linear.h"

#include <algorithm>
#include <cstring>

#include "tril/base/threads.h"
#include "tril/ops/gemm.h"
#include "tril/ops/rows.h"
#include "tril/ops/shares.h"

namespace tril {
namespace {

struct Sizes {
  int64_t rows, in, out;
};

template <class T>
void forward(Sizes s, const T* x, const T* w, const T* b, T* y) {
  for (int64_t r = 0; r < s.rows; ++r) {
    for (int64_t o = 0; o < s.out; ++o) {
      T sum = 0;
      for (int64_t i = 0; i < s.in; ++i) sum += x[r * s.in + i] * w[o * s.in + i];
      y[r * s.out + o] = b != nullptr ? sum + b[o] : sum;
    }
  }
}

template <class T>
void backward(Sizes s, const T* x, const T* w, const T* dy, T* dx, T* dw, T* db) {
  for (int64_t r = 0; r < s.rows; ++r) {
    for (int64_t o = 0; o < s.out; ++o) {
      const T up = dy[r * s.out + o];
      for (int64_t i = 0; i < s.in; ++i) {
#if defined(TRIL_BREAK_GRADIENT_OVERWRITTEN)
        if (dx != nullptr && o == 0) dx[r * s.in + i] = 0;
#endif
        if (dx != nullptr) dx[r * s.in + i] += up * w[o * s.in + i];
        if (dw != nullptr) dw[o * s.in + i] += up * x[r * s.in + i];
      }
#if defined(TRIL_BREAK_GRADIENT_DROPPED)
      if (db != nullptr && r > 0) db[o] += up;
#else
      if (db != nullptr) db[o] += up;
#endif
    }
  }
}

void forward_fast(Sizes s, const float* x, const float* w, const float* b, float* y) {
  if (b != nullptr) {
    const int64_t grain = rows_per_piece(s.out);
    parallel_for(pieces_of(s.rows, grain), [&](int64_t piece) {
      for (int64_t r = piece * grain; r < std::min(s.rows, (piece + 1) * grain); ++r)
        std::memcpy(y + r * s.out, b, static_cast<size_t>(s.out) * sizeof(float));
    });
  }
  gemm({.tb = Transpose::yes, .m = s.rows, .n = s.out, .k = s.in, .beta = b != nullptr ? 1.0 : 0.0}, x, w, y);
}

// The first share of a gradient is written, so a large weight's needs no zeros before.
void backward_fast(Sizes s, const float* x, const float* w, const float* dy, Share<float> dx, Share<float> dw,
                   float* db) {
  const auto beta = [](Share<float> to) { return to.add ? 1.0 : 0.0; };
  if (dx.at != nullptr) gemm({.m = s.rows, .n = s.in, .k = s.out, .beta = beta(dx)}, dy, w, dx.at);
  if (dw.at != nullptr)
    gemm({.ta = Transpose::yes, .m = s.out, .n = s.in, .k = s.rows, .beta = beta(dw)}, dy, x, dw.at);
  if (db == nullptr) return;
  constexpr int64_t kColumns = 256;  // each number of db is summed by one thread, in the order of the rows
  parallel_for(pieces_of(s.out, kColumns), [&](int64_t piece) {
    const int64_t start = piece * kColumns, count = std::min(kColumns, s.out - start);
    for (int64_t r = 0; r < s.rows; ++r) rows::accumulate(dy + r * s.out + start, db + start, count);
  });
}

}  // namespace

Var linear(Tape& tape, Var x, Var weight, Var bias) {
  const OpScope scope(tape, "linear", {x, weight, bias});
  if (weight.shape().rank() != 2 || weight.dim(1) != x.cols())
    shape_error("linear", "weight", weight.shape(), "[out, " + std::to_string(x.cols()) + "]");
  const Sizes s{x.rows(), x.cols(), weight.dim(0)};
  if (bias.exists()) require_shape("linear", "bias", bias.shape(), {s.out});
  const bool wants = x.wants_grad() || weight.wants_grad() || (bias.exists() && bias.wants_grad());
  Var y = tape.make(x.shape().with_cols(s.out), wants);
  if (tape.counting()) return y;
  if (tape.fast()) {
    forward_fast(s, x.v<float>(), weight.v<float>(), bias.exists() ? bias.v<float>() : nullptr, y.v<float>());
    if (wants)
      tape.on_backward([=] {
        const auto [dx, dw] = shares<float>(x, weight);
        backward_fast(s, x.v<float>(), weight.v<float>(), y.g<float>(), dx, dw,
                      bias.exists() ? bias.g<float>() : nullptr);
      });
    return y;
  }
  with_real(tape.dtype(), [&](auto zero) {
    using T = decltype(zero);
    forward(s, x.v<T>(), weight.v<T>(), bias.exists() ? bias.v<T>() : nullptr, y.v<T>());
    if (wants)
      tape.on_backward([=] {
        backward(s, x.v<T>(), weight.v<T>(), y.g<T>(), x.g<T>(), weight.g<T>(),
                 bias.exists() ? bias.g<T>() : nullptr);
      });
  });
  return y;
}

const OpSpec linear_spec{
    .name = "linear",
    .torch = "torch.nn.functional.linear",
    .arguments = {{"x"}, {"weight"}, {"bias", false, true}},
    .call = [](Tape& tape, std::span<const Var> in,
               const Attributes&) { return linear(tape, in[0], in[1], in.size() > 2 ? in[2] : Var()); },
    .cases = {{{{0, 4}, {3, 4}, {3}}},
              {{{1, 1}, {1, 1}, {1}}},
              {{{2, 3, 5}, {7, 5}, {}}},
              {{{5, 3}, {2, 3}, {2}}},
              {{{6, 33}, {17, 33}, {17}}}}};

}  // namespace tril
