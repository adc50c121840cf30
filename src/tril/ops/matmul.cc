#include "tril/ops/matmul.h"

#include "tril/base/threads.h"
#include "tril/ops/gemm.h"

namespace tril {
namespace {

struct Sizes {
  int64_t batch, m, n, k;
  Transpose tb;

  Gemm forward() const { return {.tb = tb, .m = m, .n = n, .k = k}; }
  Gemm to_a() const {
    return {.tb = tb == Transpose::no ? Transpose::yes : Transpose::no, .m = m, .n = k, .k = n, .beta = 1};
  }
  Gemm to_b() const {  // a[n]ᵀ dy[n], or dy[n]ᵀ a[n] where b is stored transposed
    const bool stored = tb == Transpose::yes;
    return {.ta = Transpose::yes, .m = stored ? n : k, .n = stored ? k : n, .k = m, .beta = 1};
  }
};

template <class T>
void forward(const Sizes& s, const T* a, const T* b, T* y) {
  for (int64_t i = 0; i < s.batch; ++i)
    gemm_reference(s.forward(), a + i * s.m * s.k, b + i * s.k * s.n, y + i * s.m * s.n);
}

template <class T>
void backward(const Sizes& s, const T* a, const T* b, const T* dy, T* da, T* db) {
  for (int64_t i = 0; i < s.batch; ++i) {
    const T *ai = a + i * s.m * s.k, *bi = b + i * s.k * s.n, *up = dy + i * s.m * s.n;
    if (da != nullptr) gemm_reference(s.to_a(), up, bi, da + i * s.m * s.k);
    if (db == nullptr) continue;
    if (s.tb == Transpose::yes) gemm_reference(s.to_b(), up, ai, db + i * s.k * s.n);
    if (s.tb == Transpose::no) gemm_reference(s.to_b(), ai, up, db + i * s.k * s.n);
  }
}

// One matrix is cut inside gemm; several are shared out whole.
template <class Body>
void each(const Sizes& s, const Body& body) {
  if (s.batch == 1) return body(0, gemm);
  parallel_for(s.batch, [&](int64_t i) { body(i, gemm_one_thread); });
}

void forward_fast(const Sizes& s, const float* a, const float* b, float* y) {
  each(s, [&](int64_t i, auto product) {
    product(s.forward(), a + i * s.m * s.k, b + i * s.k * s.n, y + i * s.m * s.n);
  });
}

void backward_fast(const Sizes& s, const float* a, const float* b, const float* dy, float* da, float* db) {
  each(s, [&](int64_t i, auto product) {
    const float *ai = a + i * s.m * s.k, *bi = b + i * s.k * s.n, *up = dy + i * s.m * s.n;
    if (da != nullptr) product(s.to_a(), up, bi, da + i * s.m * s.k);
    if (db == nullptr) return;
    if (s.tb == Transpose::yes) product(s.to_b(), up, ai, db + i * s.k * s.n);
    if (s.tb == Transpose::no) product(s.to_b(), ai, up, db + i * s.k * s.n);
  });
}

}  // namespace

Var matmul(Tape& tape, Var a, Var b, bool transpose_b) {
  const OpScope scope(tape, "matmul", {a, b});
  const int rank = a.shape().rank();
  if (rank < 2 || b.shape().rank() != rank) shape_error("matmul", "b", b.shape(), "as many dimensions as a");
  for (int i = 0; i + 2 < rank; ++i)
    if (a.dim(i) != b.dim(i))
      shape_error("matmul", "b", b.shape(), "the leading dimensions of " + a.shape().text());
  const int64_t m = a.dim(rank - 2), k = a.cols();
  const int64_t n = transpose_b ? b.dim(rank - 2) : b.cols();
  if ((transpose_b ? b.cols() : b.dim(rank - 2)) != k)
    shape_error("matmul", "b", b.shape(), "an inner dimension of " + std::to_string(k));
  const Sizes s{m * k == 0 ? 0 : a.count() / (m * k), m, n, k, transpose_b ? Transpose::yes : Transpose::no};
  Var y = tape.make(a.shape().with_cols(n), a.wants_grad() || b.wants_grad());
  if (tape.counting()) return y;
  if (tape.fast()) {
    forward_fast(s, a.v<float>(), b.v<float>(), y.v<float>());
    if (y.wants_grad())
      tape.on_backward(
          [=] { backward_fast(s, a.v<float>(), b.v<float>(), y.g<float>(), a.g<float>(), b.g<float>()); });
    return y;
  }
  with_real(tape.dtype(), [&](auto zero) {
    using T = decltype(zero);
    forward(s, a.v<T>(), b.v<T>(), y.v<T>());
    if (y.wants_grad())
      tape.on_backward([=] { backward(s, a.v<T>(), b.v<T>(), y.g<T>(), a.g<T>(), b.g<T>()); });
  });
  return y;
}

const OpSpec matmul_spec{.name = "matmul",
                         .torch = "torch.matmul",
                         .arguments = {{"a"}, {"b"}},
                         .call =
                             [](Tape& tape, std::span<const Var> in, const Attributes& a) {
                               return matmul(tape, in[0], in[1], attribute(a, "transpose_b", 0) != 0);
                             },
                         .cases = {{{{1, 1}, {1, 1}}},
                                   {{{0, 2, 3}, {0, 3, 2}}},
                                   {{{3, 5}, {5, 2}}},
                                   {{{2, 3, 5}, {2, 5, 4}}},
                                   {{{2, 3, 5}, {2, 4, 5}}, {{"transpose_b", 1}}},
                                   {{{2, 2, 3, 7}, {2, 2, 3, 7}}, {{"transpose_b", 1}}}}};

}  // namespace tril
