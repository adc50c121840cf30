#include "tril/ops/layer_norm.h"

#include <cmath>

#include "tril/ops/norm_rows.h"

namespace tril {
namespace {

using norm_rows::Sizes;

template <class T>
struct Row {
  T mean, s;
};

template <class T>
void forward(Sizes z, T epsilon, const T* x, const T* g, const T* b, Row<T>* stats, T* y) {
  const T n = static_cast<T>(z.cols);
  for (int64_t r = 0; r < z.rows; ++r) {
    const T* in = x + r * z.cols;
    T sum = 0, squares = 0;
    for (int64_t c = 0; c < z.cols; ++c) sum += in[c];
    const T mean = sum / n;
    for (int64_t c = 0; c < z.cols; ++c) squares += (in[c] - mean) * (in[c] - mean);
    const T s = 1 / std::sqrt(squares / n + epsilon);
    for (int64_t c = 0; c < z.cols; ++c) {
      const T h = (in[c] - mean) * s;
      y[r * z.cols + c] = (g != nullptr ? g[c] * h : h) + (b != nullptr ? b[c] : T{0});
    }
    stats[r] = {mean, s};
  }
}

template <class T>
void backward(Sizes z, const T* x, const T* g, const Row<T>* stats, const T* dy, T* dx, T* dg, T* db) {
  const T n = static_cast<T>(z.cols);
  for (int64_t r = 0; r < z.rows; ++r) {
    const auto [mean, s] = stats[r];
    T m1 = 0, m2 = 0;
    for (int64_t c = 0; c < z.cols; ++c) {
      const int64_t i = r * z.cols + c;
      const T h = (x[i] - mean) * s, dh = g != nullptr ? g[c] * dy[i] : dy[i];
      m1 += dh / n;
      m2 += dh * h / n;
      if (dg != nullptr) dg[c] += dy[i] * h;
      if (db != nullptr) db[c] += dy[i];
    }
    if (dx == nullptr) continue;
    for (int64_t c = 0; c < z.cols; ++c) {
      const int64_t i = r * z.cols + c;
      const T h = (x[i] - mean) * s, dh = g != nullptr ? g[c] * dy[i] : dy[i];
      dx[i] += s * (dh - m1 - h * m2);
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

void record_fast(Tape& tape, Sizes z, float epsilon, Var x, Var gain, Var bias, Var y) {
  const Tensor kept = tape.arena().tensor({z.rows, 2}, DType::f32);
  Tensor partial;
  if (y.wants_grad()) partial = tape.arena().tensor({norm_rows::pieces(z), 2, z.cols}, DType::f32);
  if (tape.counting()) return;
  auto* stats = reinterpret_cast<norm_rows::Stats*>(kept.data);
  norm_rows::forward(z, true, epsilon, x.v<float>(), value<float>(gain), value<float>(bias), stats,
                     y.v<float>());
  if (!y.wants_grad()) return;
  tape.on_backward([=] {
    const Share<float> dx = x.share<float>();  // before the gain's, which may be the same
    norm_rows::backward(z, true, x.v<float>(), value<float>(gain), stats, y.g<float>(), dx, grad<float>(gain),
                        grad<float>(bias), partial.as<float>());
  });
}

}  // namespace

Var layer_norm(Tape& tape, Var x, Var gain, Var bias, double epsilon) {
  const OpScope scope(tape, "layer_norm", {x, gain, bias});
  const Sizes z{x.rows(), x.cols()};
  if (gain.exists()) require_shape("layer_norm", "gain", gain.shape(), {z.cols});
  if (bias.exists()) require_shape("layer_norm", "bias", bias.shape(), {z.cols});
  const auto wants = [](Var v) { return v.exists() && v.wants_grad(); };
  Var y = tape.make(x.shape(), x.wants_grad() || wants(gain) || wants(bias));
  if (tape.fast()) {
    record_fast(tape, z, static_cast<float>(epsilon), x, gain, bias, y);
    return y;
  }
  with_real(tape.dtype(), [&](auto zero) {
    using T = decltype(zero);
    auto* stats = static_cast<Row<T>*>(tape.arena().allocate(static_cast<size_t>(z.rows) * sizeof(Row<T>)));
    if (tape.counting()) return;
    forward(z, static_cast<T>(epsilon), x.v<T>(), value<T>(gain), value<T>(bias), stats, y.v<T>());
    if (y.wants_grad())
      tape.on_backward([=] {
        backward(z, x.v<T>(), value<T>(gain), stats, y.g<T>(), x.g<T>(), grad<T>(gain), grad<T>(bias));
      });
  });
  return y;
}

const OpSpec layer_norm_spec{.name = "layer_norm",
                             .torch = "torch.nn.functional.layer_norm",
                             .arguments = {{"x"}, {"gain", false, true}, {"bias", false, true}},
                             .call =
                                 [](Tape& tape, std::span<const Var> in, const Attributes& a) {
                                   return layer_norm(tape, in[0], in.size() > 1 ? in[1] : Var(),
                                                     in.size() > 2 ? in[2] : Var(),
                                                     attribute(a, "epsilon", 1e-5));
                                 },
                             .cases = {{{{0, 8}, {8}, {8}}},
                                       {{{1, 1}, {1}, {1}}},
                                       {{{3, 5}, {5}, {5}}},
                                       {{{2, 3, 7}, {7}, {}}, {{"epsilon", 1e-2}}},
                                       {{{4, 33}, {}, {}}},
                                       {{{300, 129}, {129}, {129}}}}};

}  // namespace tril
