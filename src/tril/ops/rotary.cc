#include "tril/ops/rotary.h"

#include <algorithm>
#include <cmath>

#include "tril/base/threads.h"

namespace tril {
namespace {

struct Sizes {
  int64_t rows, positions, heads, width;  // width of a head
  bool interleaved;
};

template <class T>
struct Angles {
  const T *cosine, *sine;  // [T, D/2]
};

template <class T>
Angles<T> angles(Arena& arena, const Sizes& s, const RotaryOptions& options) {
  const int64_t half = s.width / 2;
  T* cosine = arena.tensor({s.positions, half}, dtype_of<T>()).template as<T>();
  T* sine = arena.tensor({s.positions, half}, dtype_of<T>()).template as<T>();
  if (arena.counting()) return {cosine, sine};
  for (int64_t i = 0; i < half; ++i) {
    const double rate = std::pow(options.theta, -2.0 * static_cast<double>(i) / static_cast<double>(s.width));
    for (int64_t t = 0; t < s.positions; ++t) {
      const int64_t place = options.places.exists() ? options.places.as<int32_t>()[t] : options.start + t;
      const double angle = static_cast<double>(place) * rate;
      cosine[t * half + i] = static_cast<T>(std::cos(angle));
      sine[t * half + i] = static_cast<T>(std::sin(angle));
    }
  }
  return {cosine, sine};
}

// Rows first … last − 1.
template <class T>
void forward(const Sizes& s, int64_t first, int64_t last, Angles<T> at, const T* x, T* y) {
  const int64_t half = s.width / 2, step = s.interleaved ? 2 : 1, apart = s.interleaved ? 1 : half;
  for (int64_t r = first; r < last; ++r) {
    const T *c = at.cosine + r % s.positions * half, *d = at.sine + r % s.positions * half;
    for (int64_t h = 0; h < s.heads; ++h) {
      const T* in = x + (r * s.heads + h) * s.width;
      T* out = y + (r * s.heads + h) * s.width;
      for (int64_t i = 0; i < half; ++i) {
        const T p = in[i * step], q = in[i * step + apart];
        out[i * step] = p * c[i] - q * d[i];
        out[i * step + apart] = p * d[i] + q * c[i];
      }
    }
  }
}

template <class T>
void backward(const Sizes& s, int64_t first, int64_t last, Angles<T> at, const T* dy, T* dx) {
  const int64_t half = s.width / 2, step = s.interleaved ? 2 : 1, apart = s.interleaved ? 1 : half;
  for (int64_t r = first; r < last; ++r) {
    const T *c = at.cosine + r % s.positions * half, *d = at.sine + r % s.positions * half;
    for (int64_t h = 0; h < s.heads; ++h) {
      const T* up = dy + (r * s.heads + h) * s.width;
      T* out = dx + (r * s.heads + h) * s.width;
      for (int64_t i = 0; i < half; ++i) {
        const T p = up[i * step], q = up[i * step + apart];
        out[i * step] += p * c[i] + q * d[i];
        out[i * step + apart] += q * c[i] - p * d[i];
      }
    }
  }
}

}  // namespace

// The plain loops serve both engines: the fast one runs them on pieces of rows in threads.
Var rotary(Tape& tape, Var x, const RotaryOptions& options) {
  const OpScope scope(tape, "rotary", {x});
  if (x.shape().rank() != 3) shape_error("rotary", "x", x.shape(), "[B, T, heads·width]");
  if (options.heads < 1 || x.cols() % options.heads != 0 || x.cols() / options.heads % 2 != 0)
    shape_error("rotary", "x", x.shape(), std::to_string(options.heads) + " heads of an even width");
  const Sizes s{x.rows(), x.dim(1), options.heads, x.cols() / options.heads, options.interleaved};
  if (options.places.exists()) require_shape("rotary", "places", options.places.shape, {s.positions});
  Var y = tape.make(x.shape(), x.wants_grad());
  if (x.count() == 0) return y;
  const int64_t grain = tape.fast() ? rows_per_piece(x.cols()) : s.rows;
  const auto each_piece = [s, grain](const auto& body) {
    parallel_for(pieces_of(s.rows, grain),
                 [&](int64_t piece) { body(piece * grain, std::min(s.rows, (piece + 1) * grain)); });
  };
  with_real(tape.dtype(), [&](auto zero) {
    using T = decltype(zero);
    const Angles<T> at = angles<T>(tape.arena(), s, options);
    if (tape.counting()) return;
    each_piece([&](int64_t a, int64_t b) { forward(s, a, b, at, x.v<T>(), y.v<T>()); });
    if (y.wants_grad())
      tape.on_backward([=] {
        const T* dy = y.g<T>();
        T* dx = x.g<T>();
        each_piece([&](int64_t a, int64_t b) { backward(s, a, b, at, dy, dx); });
      });
  });
  return y;
}

const OpSpec rotary_spec{.name = "rotary",
                         .torch = "complex rotation, written out",
                         .arguments = {{"x"}},
                         .call =
                             [](Tape& tape, std::span<const Var> in, const Attributes& a) {
                               RotaryOptions options;
                               options.heads = static_cast<int64_t>(attribute(a, "heads", 1));
                               options.theta = attribute(a, "theta", 10000);
                               options.interleaved = attribute(a, "interleaved", 0) != 0;
                               options.start = static_cast<int64_t>(attribute(a, "start", 0));
                               return rotary(tape, in[0], options);
                             },
                         .cases = {{{{0, 3, 4}}},
                                   {{{1, 1, 2}}},
                                   {{{2, 3, 8}}, {{"heads", 2}}},
                                   {{{1, 5, 12}}, {{"heads", 2}, {"interleaved", 1}, {"start", 40}}},
                                   {{{3, 70, 96}}, {{"heads", 3}, {"start", 7}}}}};

}  // namespace tril
