#include "tril/ops/lora_linear.h"

#include <algorithm>

#include "tril/ops/gemm.h"
#include "tril/ops/linear.h"

namespace tril {
namespace {

struct Sizes {
  int64_t rows, in, out, rank;
  double scale;
};

// y holds linear's result, and what is told here is added to it.
template <class T>
void forward(const Sizes& s, const T* x, const T* a, const T* b, T* h, T* y) {
  for (int64_t r = 0; r < s.rows; ++r) {
    for (int64_t k = 0; k < s.rank; ++k) {
      T sum = 0;
      for (int64_t i = 0; i < s.in; ++i) sum += x[r * s.in + i] * a[k * s.in + i];
      h[r * s.rank + k] = sum;
    }
    for (int64_t o = 0; o < s.out; ++o) {
      T sum = 0;
      for (int64_t k = 0; k < s.rank; ++k) sum += h[r * s.rank + k] * b[o * s.rank + k];
      y[r * s.out + o] += static_cast<T>(s.scale) * sum;
    }
  }
}

template <class T>
void backward(const Sizes& s, const T* x, const T* a, const T* b, const T* h, const T* dy, T* dh, T* dx,
              T* da, T* db) {
  const T scale = static_cast<T>(s.scale);
  for (int64_t r = 0; r < s.rows; ++r) {
    for (int64_t k = 0; k < s.rank; ++k) {
      T sum = 0;
      for (int64_t o = 0; o < s.out; ++o) sum += dy[r * s.out + o] * b[o * s.rank + k];
      dh[r * s.rank + k] = scale * sum;
      for (int64_t o = 0; o < s.out && db != nullptr; ++o)
        db[o * s.rank + k] += scale * dy[r * s.out + o] * h[r * s.rank + k];
      for (int64_t i = 0; i < s.in; ++i) {
        if (da != nullptr) da[k * s.in + i] += dh[r * s.rank + k] * x[r * s.in + i];
        if (dx != nullptr) dx[r * s.in + i] += dh[r * s.rank + k] * a[k * s.in + i];
      }
    }
  }
}

void forward_fast(const Sizes& s, const float* x, const float* a, const float* b, float* h, float* y) {
  gemm({.tb = Transpose::yes, .m = s.rows, .n = s.rank, .k = s.in}, x, a, h);
  gemm({.tb = Transpose::yes, .m = s.rows, .n = s.out, .k = s.rank, .alpha = s.scale, .beta = 1}, h, b, y);
}

void backward_fast(const Sizes& s, const float* x, const float* a, const float* b, const float* h,
                   const float* dy, float* dh, float* dx, float* da, float* db) {
  const Transpose yes = Transpose::yes;
  if (db != nullptr)
    gemm({.ta = yes, .m = s.out, .n = s.rank, .k = s.rows, .alpha = s.scale, .beta = 1}, dy, h, db);
  if (da == nullptr && dx == nullptr) return;
  gemm({.m = s.rows, .n = s.rank, .k = s.out, .alpha = s.scale}, dy, b, dh);
  if (da != nullptr) gemm({.ta = yes, .m = s.rank, .n = s.in, .k = s.rows, .beta = 1}, dh, x, da);
  if (dx != nullptr) gemm({.m = s.rows, .n = s.in, .k = s.rank, .beta = 1}, dh, a, dx);
}

}  // namespace

Var lora_linear(Tape& tape, Var x, Var weight, Var bias, Var a, Var b, double scale) {
  const OpScope scope(tape, "lora_linear", {x, weight, bias, a, b});
  if (a.shape().rank() != 2 || a.dim(1) != x.cols())
    shape_error("lora_linear", "a", a.shape(), "[rank, " + std::to_string(x.cols()) + "]");
  if (weight.shape().rank() != 2) shape_error("lora_linear", "weight", weight.shape(), "[out, in]");
  require_shape("lora_linear", "b", b.shape(), {weight.dim(0), a.dim(0)});
  const Sizes s{x.rows(), x.cols(), weight.dim(0), a.dim(0), scale};
  const bool adapts = x.wants_grad() || a.wants_grad() || b.wants_grad();
  // The layer's own result is taken over and added to; what linear needs in backward is its gradient alone.
  Var y = linear(tape, x, weight, bias);
  if (adapts && !y.wants_grad() && tape.recording()) {
    const Var own = y;
    y = tape.make(own.shape(), true);
    if (!tape.counting())
      std::copy_n(static_cast<const char*>(own.value().data), own.value().bytes(),
                  static_cast<char*>(y.value().data));
  }
  const Var h = tape.make({s.rows, s.rank}, adapts);  // its gradient is dh
  if (tape.counting()) return y;
  if (tape.fast()) {
    forward_fast(s, x.v<float>(), a.v<float>(), b.v<float>(), h.v<float>(), y.v<float>());
    if (adapts)
      tape.on_backward([=] {
        backward_fast(s, x.v<float>(), a.v<float>(), b.v<float>(), h.v<float>(), y.g<float>(), h.g<float>(),
                      x.g<float>(), a.g<float>(), b.g<float>());
      });
    return y;
  }
  with_real(tape.dtype(), [&](auto zero) {
    using T = decltype(zero);
    forward(s, x.v<T>(), a.v<T>(), b.v<T>(), h.v<T>(), y.v<T>());
    if (adapts)
      tape.on_backward([=] {
        backward(s, x.v<T>(), a.v<T>(), b.v<T>(), h.v<T>(), y.g<T>(), h.g<T>(), x.g<T>(), a.g<T>(), b.g<T>());
      });
  });
  return y;
}

const OpSpec lora_linear_spec{.name = "lora_linear",
                              .torch = "peft.tuners.lora.Linear",
                              .arguments = {{"x"}, {"weight"}, {"a"}, {"b"}, {"bias", false, true}},
                              .call =
                                  [](Tape& tape, std::span<const Var> in, const Attributes& attributes) {
                                    return lora_linear(tape, in[0], in[1], in.size() > 4 ? in[4] : Var(),
                                                       in[2], in[3], attribute(attributes, "scale", 1));
                                  },
                              .cases = {{{{0, 4}, {3, 4}, {2, 4}, {3, 2}, {3}}, {{"scale", 2}}},
                                        {{{1, 1}, {1, 1}, {1, 1}, {1, 1}, {1}}, {{"scale", 0.5}}},
                                        {{{2, 3, 5}, {7, 5}, {2, 5}, {7, 2}, {}}, {{"scale", 2}}},
                                        {{{5, 3}, {2, 3}, {3, 3}, {2, 3}, {2}}, {{"scale", -1.5}}},
                                        {{{6, 33}, {17, 33}, {8, 33}, {17, 8}, {17}}, {{"scale", 2}}}}};

}  // namespace tril
