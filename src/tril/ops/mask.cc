#include "tril/ops/mask.h"

#include <limits>

#include "tril/base/threads.h"

namespace tril {
namespace {

struct Sizes {
  Visible visible;
  int64_t batch, matrices;  // matrices of [Tq, Tk] in all; matrices / batch of them share a pad
  const int32_t* pad;
  int64_t pad_of(int64_t m) const { return pad == nullptr ? 0 : pad[m / (matrices / batch)]; }
};

template <class T>
void forward_matrix(const Sizes& s, int64_t m, const T* x, T* y) {
  const int64_t queries = s.visible.queries, keys = s.visible.keys, pad = s.pad_of(m);
  for (int64_t i = 0; i < queries; ++i) {
    const int64_t first = s.visible.first(i, pad), end = s.visible.end(i);
    for (int64_t j = 0; j < keys; ++j) {
      const int64_t at = (m * queries + i) * keys + j;
      y[at] = j >= first && j < end ? x[at] : -std::numeric_limits<T>::infinity();
    }
  }
}

template <class T>
void backward_matrix(const Sizes& s, int64_t m, const T* dy, T* dx) {
  const int64_t queries = s.visible.queries, keys = s.visible.keys, pad = s.pad_of(m);
  for (int64_t i = 0; i < queries; ++i) {
    const int64_t end = s.visible.end(i);
    for (int64_t j = s.visible.first(i, pad); j < end; ++j)
      dx[(m * queries + i) * keys + j] += dy[(m * queries + i) * keys + j];
  }
}

}  // namespace

// Both engines run the same loops, the fast one over several matrices at once: they only copy.
Var mask(Tape& tape, Var x, Var pad, bool causal) {
  const OpScope scope(tape, "mask", {x});
  const int rank = x.shape().rank();
  if (rank < 2) shape_error("mask", "x", x.shape(), "[..., Tq, Tk]");
  const int64_t keys = x.cols(), queries = x.dim(rank - 2);
  if (queries > keys) shape_error("mask", "x", x.shape(), "no more queries than keys");
  const int64_t matrices = queries * keys == 0 ? 0 : x.count() / (queries * keys);
  if (pad.exists() && rank > 2) require_shape("mask", "pad", pad.shape(), {x.dim(0)});
  const Sizes s{
      {causal, queries, keys}, rank > 2 ? x.dim(0) : 1, matrices, pad.exists() ? pad.v<int32_t>() : nullptr};
  Var y = tape.make(x.shape(), x.wants_grad());
  if (tape.counting()) return y;
  const bool threaded = tape.fast() && x.count() > (1 << 14);
  with_real(tape.dtype(), [&](auto zero) {
    using T = decltype(zero);
    const auto each = [threaded, matrices](const auto& body) {
      if (threaded) return parallel_for(matrices, body);
      for (int64_t m = 0; m < matrices; ++m) body(m);
    };
    each([&](int64_t m) { forward_matrix(s, m, x.v<T>(), y.v<T>()); });
    if (y.wants_grad())
      tape.on_backward([=] { each([&](int64_t m) { backward_matrix(s, m, y.g<T>(), x.g<T>()); }); });
  });
  return y;
}

const OpSpec mask_spec{.name = "mask",
                       .torch = "torch.Tensor.masked_fill",
                       .arguments = {{"x"}, {"pad", true, true}},
                       .call =
                           [](Tape& tape, std::span<const Var> in, const Attributes& a) {
                             return mask(tape, in[0], in.size() > 1 ? in[1] : Var(),
                                         attribute(a, "causal", 1) != 0);
                           },
                       .cases = {{{{0, 3, 3}, {}}},
                                 {{{1, 1, 1}, {}}},
                                 {{{2, 3, 5}, {2}}, {}, 3},
                                 {{{2, 3, 4, 4}, {2}}, {}, 4},
                                 {{{2, 4, 4}, {}}, {{"causal", 0}}}}};

}  // namespace tril
