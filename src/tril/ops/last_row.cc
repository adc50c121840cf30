#include "tril/ops/last_row.h"

#include "tril/ops/rows.h"

namespace tril {
namespace {

struct Sizes {
  int64_t batch, positions, width;
#if defined(TRIL_BREAK_LAST_ROW)
  int64_t from(int64_t b) const {
    return b * positions * width;
  }
#else
  int64_t from(int64_t b) const {
    return ((b + 1) * positions - 1) * width;
  }
#endif
};

template <class T>
void forward(Sizes s, const T* x, T* y) {
  for (int64_t b = 0; b < s.batch; ++b)
    for (int64_t d = 0; d < s.width; ++d) y[b * s.width + d] = x[s.from(b) + d];
}

template <class T>
void backward(Sizes s, const T* dy, T* dx) {
  for (int64_t b = 0; b < s.batch; ++b)
    for (int64_t d = 0; d < s.width; ++d) dx[s.from(b) + d] += dy[b * s.width + d];
}

}  // namespace

// One plain loop serves both engines: it copies a T-th of x, and vector code gains nothing measurable on it.
Var last_row(Tape& tape, Var x) {
  const OpScope scope(tape, "last_row", {x});
  if (x.shape().rank() != 3 || x.dim(1) < 1) shape_error("last_row", "x", x.shape(), "[B, T, D] with T ≥ 1");
  const Sizes s{x.dim(0), x.dim(1), x.dim(2)};
  if (s.positions == 1) return x;
  Var y = tape.make({s.batch, 1, s.width}, x.wants_grad());
  if (tape.counting()) return y;
  with_real(tape.dtype(), [&](auto zero) {
    using T = decltype(zero);
    forward(s, x.v<T>(), y.v<T>());
    if (y.wants_grad()) tape.on_backward([=] { backward(s, y.g<T>(), x.g<T>()); });
  });
  return y;
}

const OpSpec last_row_spec{
    .name = "last_row",
    .torch = "torch.Tensor.narrow",
    .arguments = {{"x"}},
    .call = [](Tape& tape, std::span<const Var> in, const Attributes&) { return last_row(tape, in[0]); },
    .cases = {{{{0, 3, 4}}}, {{{1, 1, 1}}}, {{{2, 3, 5}}}, {{{3, 4, 33}}}}};

}  // namespace tril
