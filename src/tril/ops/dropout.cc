#include "tril/ops/dropout.h"

#include <algorithm>
#include <cassert>

#include "tril/base/threads.h"

namespace tril {
namespace {

// Numbers first … last − 1.
template <class T>
void forward(int64_t first, int64_t last, const DropoutMask& mask, const T* x, T* y) {
  const T grown = static_cast<T>(1 / (1 - mask.p));
  for (int64_t i = first; i < last; ++i) y[i] = mask.kept(i) ? x[i] * grown : T{0};
}

template <class T>
void backward(int64_t first, int64_t last, const DropoutMask& mask, const T* dy, T* dx) {
  const T grown = static_cast<T>(1 / (1 - mask.p));
  for (int64_t i = first; i < last; ++i)
    if (mask.kept(i)) dx[i] += dy[i] * grown;
}

}  // namespace

DropoutMask next_mask(Tape& tape, double p, int64_t count) {
  assert(p >= 0 && p < 1);
  return tape.recording() && p > 0 ? DropoutMask{tape.draws(count), p} : DropoutMask{};
}

// The plain loops serve both engines, since the hash is what takes the time; the fast one cuts them for
// threads.
Var dropout(Tape& tape, Var x, double p) {
  if (p == 0 || !tape.recording()) return x;
  const OpScope scope(tape, "dropout", {x});
  const DropoutMask mask = next_mask(tape, p, x.count());
  Var y = tape.make(x.shape(), x.wants_grad());
  if (tape.counting()) return y;
  const int64_t n = x.count(), grain = tape.fast() ? 1 << 14 : std::max<int64_t>(n, 1);
  const auto each_piece = [n, grain](const auto& body) {
    parallel_for(pieces_of(n, grain),
                 [&](int64_t piece) { body(piece * grain, std::min(n, (piece + 1) * grain)); });
  };
  with_real(tape.dtype(), [&](auto zero) {
    using T = decltype(zero);
    each_piece([&](int64_t a, int64_t b) { forward(a, b, mask, x.v<T>(), y.v<T>()); });
    if (y.wants_grad())
      tape.on_backward([=] {
        const T* dy = y.g<T>();
        T* dx = x.g<T>();
        each_piece([&](int64_t a, int64_t b) { backward(a, b, mask, dy, dx); });
      });
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
