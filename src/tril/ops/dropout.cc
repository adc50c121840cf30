#include "tril/ops/dropout.h"

#include <algorithm>
#include <cassert>

#include "tril/base/threads.h"
#include "tril/tensor/draws.h"

namespace tril {
namespace {

struct Mask {
  Draws draws;
  double p;
  bool kept(int64_t i) const { return draws.uniform_at(static_cast<uint64_t>(i)) >= p; }
};

// Numbers first … last − 1.
template <class T>
void forward(int64_t first, int64_t last, const Mask& mask, const T* x, T* y) {
  const T grown = static_cast<T>(1 / (1 - mask.p));
  for (int64_t i = first; i < last; ++i) y[i] = mask.kept(i) ? x[i] * grown : T{0};
}

template <class T>
void backward(int64_t first, int64_t last, const Mask& mask, const T* dy, T* dx) {
  const T grown = static_cast<T>(1 / (1 - mask.p));
  for (int64_t i = first; i < last; ++i)
    if (mask.kept(i)) dx[i] += dy[i] * grown;
}

}  // namespace

// The plain loops serve both engines, since the hash is what takes the time; the fast one cuts them for
// threads.
Var dropout(Tape& tape, Var x, double p) {
  assert(p >= 0 && p < 1);
  if (!tape.recording() || p == 0) return x;
  const Mask mask{tape.draws(), p};
  Var y = tape.make(x.shape(), x.wants_grad());
  const int64_t n = x.count(), grain = tape.fast() ? 1 << 14 : std::max<int64_t>(n, 1);
  const auto each_piece = [n, grain](const auto& body) {
    parallel_for(pieces_of(n, grain),
                 [&](int64_t piece) { body(piece * grain, std::min(n, (piece + 1) * grain)); });
  };
  with_real(tape.dtype(), [&](auto zero) {
    using T = decltype(zero);
    each_piece([&](int64_t a, int64_t b) { forward(a, b, mask, x.v<T>(), y.v<T>()); });
    if (y.wants_grad())
      tape.on_backward(
          [=] { each_piece([&](int64_t a, int64_t b) { backward(a, b, mask, y.g<T>(), x.g<T>()); }); });
  });
  return y;
}

const OpSpec dropout_spec{
    .name = "dropout",
    .torch = "torch.nn.functional.dropout",
    .arguments = {{"x"}},
    .call = [](Tape& tape, std::span<const Var> in,
               const Attributes& a) { return dropout(tape, in[0], attribute(a, "p", 0.3)); },
    .cases = {{{{0, 8}}}, {{{1, 1}}}, {{{3, 5}}, {{"p", 0.5}}}, {{{2, 2, 17}}}, {{{129, 131}}}}};

}  // namespace tril
