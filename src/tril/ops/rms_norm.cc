#include "tril/ops/rms_norm.h"

#include <cmath>

#include "tril/ops/norm_rows.h"

namespace tril {
namespace {

using norm_rows::Sizes;

template <class T>
void forward(Sizes z, T epsilon, const T* x, const T* g, T* s, T* y) {
  for (int64_t r = 0; r < z.rows; ++r) {
    T sum = 0;
    for (int64_t c = 0; c < z.cols; ++c) sum += x[r * z.cols + c] * x[r * z.cols + c];
    s[r] = 1 / std::sqrt(sum / static_cast<T>(z.cols) + epsilon);
    for (int64_t c = 0; c < z.cols; ++c) {
      const T h = x[r * z.cols + c] * s[r];
      y[r * z.cols + c] = g != nullptr ? g[c] * h : h;
    }
  }
}

template <class T>
void backward(Sizes z, const T* x, const T* g, const T* s, const T* dy, T* dx, T* dg) {
  for (int64_t r = 0; r < z.rows; ++r) {
    T k = 0;
    for (int64_t c = 0; c < z.cols; ++c) {
      const int64_t i = r * z.cols + c;
      k += (g != nullptr ? g[c] : T{1}) * dy[i] * x[i] / static_cast<T>(z.cols);
      if (dg != nullptr) dg[c] += dy[i] * x[i] * s[r];
    }
    if (dx == nullptr) continue;
    for (int64_t c = 0; c < z.cols; ++c) {
      const int64_t i = r * z.cols + c;
      dx[i] += s[r] * ((g != nullptr ? g[c] : T{1}) * dy[i] - x[i] * s[r] * s[r] * k);
    }
  }
}

template <class T>
T* value(Var v) {
  return v.exists() ? v.v<T>() : nullptr;
}
template <class T>
T* grad(Var v) {
  return v.exists() ? v.g<T>() : nullptr;
}

void record_fast(Tape& tape, Sizes z, float epsilon, Var x, Var gain, Var y) {
  const Tensor kept = tape.arena().tensor({z.rows, 2}, DType::f32);
  Tensor partial;
  if (y.wants_grad()) partial = tape.arena().tensor({norm_rows::pieces(z), 2, z.cols}, DType::f32);
  if (tape.counting()) return;
  auto* stats = reinterpret_cast<norm_rows::Stats*>(kept.data);
  norm_rows::forward(z, false, epsilon, x.v<float>(), value<float>(gain), nullptr, stats, y.v<float>());
  if (!y.wants_grad()) return;
  tape.on_backward([=] {
    const Share<float> dx = x.share<float>();  // before the gain's, which may be the same
    norm_rows::backward(z, false, x.v<float>(), value<float>(gain), stats, y.g<float>(), dx,
                        grad<float>(gain), nullptr, partial.as<float>());
  });
}

}  // namespace

Var rms_norm(Tape& tape, Var x, Var gain, double epsilon) {
  const OpScope scope(tape, "rms_norm", {x, gain});
  const Sizes z{x.rows(), x.cols()};
  if (gain.exists()) require_shape("rms_norm", "gain", gain.shape(), {z.cols});
  Var y = tape.make(x.shape(), x.wants_grad() || (gain.exists() && gain.wants_grad()));
  if (tape.fast()) {
    record_fast(tape, z, static_cast<float>(epsilon), x, gain, y);
    return y;
  }
  const Tensor kept = tape.arena().tensor({z.rows}, tape.dtype());
  if (tape.counting()) return y;
  with_real(tape.dtype(), [&](auto zero) {
    using T = decltype(zero);
    forward(z, static_cast<T>(epsilon), x.v<T>(), value<T>(gain), kept.as<T>(), y.v<T>());
    if (y.wants_grad())
      tape.on_backward(
          [=] { backward(z, x.v<T>(), value<T>(gain), kept.as<T>(), y.g<T>(), x.g<T>(), grad<T>(gain)); });
  });
  return y;
}

const OpSpec rms_norm_spec{.name = "rms_norm",
                           .torch = "torch.nn.functional.rms_norm",
                           .arguments = {{"x"}, {"gain", false, true}},
                           .call =
                               [](Tape& tape, std::span<const Var> in, const Attributes& a) {
                                 return rms_norm(tape, in[0], in.size() > 1 ? in[1] : Var(),
                                                 attribute(a, "epsilon", 1e-5));
                               },
                           .cases = {{{{0, 8}, {8}}},
                                     {{{1, 1}, {1}}},
                                     {{{3, 5}, {5}}},
                                     {{{2, 3, 7}, {7}}, {{"epsilon", 1e-2}}},
                                     {{{4, 33}, {}}},
                                     {{{300, 129}, {129}}}}};

}  // namespace tril
