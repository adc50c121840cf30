#include "tril/ops/head_linear.h"

#include "tril/base/threads.h"
#include "tril/ops/gemm.h"

namespace tril {
namespace {

struct Sizes {
  int64_t rows, heads, in, out;
  HeadMap map;

  int64_t x_width() const { return heads * in; }
  int64_t y_width() const { return heads * out; }
  int64_t weight_width() const { return map == HeadMap::into ? out : in; }
  int64_t weight_count() const { return in * out; }  // of one head

  Gemm forward() const {
    return {.tb = map == HeadMap::into ? Transpose::no : Transpose::yes,
            .m = rows,
            .n = out,
            .k = in,
            .lda = x_width(),
            .ldc = y_width()};
  }
  Gemm to_x() const {
    return {.tb = map == HeadMap::into ? Transpose::yes : Transpose::no,
            .m = rows,
            .n = in,
            .k = out,
            .beta = 1,
            .lda = y_width(),
            .ldc = x_width()};
  }
  Gemm to_weight() const {  // x_hᵀ dy_h, or dy_hᵀ x_h where the rows of W are what comes out
    const bool into = map == HeadMap::into;
    return {.ta = Transpose::yes,
            .m = into ? in : out,
            .n = weight_width(),
            .k = rows,
            .beta = 1,
            .lda = into ? x_width() : y_width(),
            .ldb = into ? y_width() : x_width()};
  }
};

template <class T, class Product>
void forward(const Sizes& s, int64_t h, const Product& product, const T* x, const T* w, T* y) {
  product(s.forward(), x + h * s.in, w + h * s.weight_count(), y + h * s.out);
}

template <class T, class Product>
void backward(const Sizes& s, int64_t h, const Product& product, const T* x, const T* w, const T* dy, T* dx,
              T* dw) {
  const T *xh = x + h * s.in, *up = dy + h * s.out;
  if (dx != nullptr) product(s.to_x(), up, w + h * s.weight_count(), dx + h * s.in);
  if (dw == nullptr) return;
  const bool into = s.map == HeadMap::into;
  product(s.to_weight(), into ? xh : up, into ? up : xh, dw + h * s.weight_count());
}

// One head is cut inside gemm; several are shared out whole.
template <class Body>
void each_head(const Sizes& s, const Body& body) {
  if (s.heads == 1) return body(0, gemm);
  parallel_for(s.heads, [&](int64_t h) { body(h, gemm_one_thread); });
}

}  // namespace

Var head_linear(Tape& tape, Var x, Var weight, int64_t heads, HeadMap map) {
  const OpScope scope(tape, "head_linear", {x, weight});
  if (heads < 1 || x.cols() % heads != 0)
    shape_error("head_linear", "x", x.shape(), "[…, " + std::to_string(heads) + "·in]");
  const int64_t in = x.cols() / heads;
  if (weight.shape().rank() != 2 || weight.dim(0) % heads != 0 ||
      (map == HeadMap::into ? weight.dim(0) / heads : weight.dim(1)) != in)
    shape_error("head_linear", "weight", weight.shape(),
                map == HeadMap::into ? "[" + std::to_string(x.cols()) + ", out]"
                                     : "[" + std::to_string(heads) + "·out, " + std::to_string(in) + "]");
  const int64_t out = map == HeadMap::into ? weight.dim(1) : weight.dim(0) / heads;
  const Sizes s{x.rows(), heads, in, out, map};
  Var y = tape.make(x.shape().with_cols(heads * out), x.wants_grad() || weight.wants_grad());
  if (tape.counting()) return y;
  if (tape.fast()) {
    each_head(s, [&](int64_t h, auto product) {
      forward(s, h, product, x.v<float>(), weight.v<float>(), y.v<float>());
    });
    if (y.wants_grad())
      tape.on_backward([=] {
        each_head(s, [&](int64_t h, auto product) {
          backward(s, h, product, x.v<float>(), weight.v<float>(), y.g<float>(), x.g<float>(),
                   weight.g<float>());
        });
      });
    return y;
  }
  with_real(tape.dtype(), [&](auto zero) {
    using T = decltype(zero);
    for (int64_t h = 0; h < heads; ++h) forward(s, h, gemm_reference<T>, x.v<T>(), weight.v<T>(), y.v<T>());
    if (y.wants_grad())
      tape.on_backward([=] {
        for (int64_t h = 0; h < heads; ++h)
          backward(s, h, gemm_reference<T>, x.v<T>(), weight.v<T>(), y.g<T>(), x.g<T>(), weight.g<T>());
      });
  });
  return y;
}

const OpSpec head_linear_spec{.name = "head_linear",
                              .torch = "torch.einsum",
                              .arguments = {{"x"}, {"weight"}},
                              .call =
                                  [](Tape& tape, std::span<const Var> in, const Attributes& a) {
                                    return head_linear(
                                        tape, in[0], in[1], static_cast<int64_t>(attribute(a, "heads", 1)),
                                        attribute(a, "out_of", 0) != 0 ? HeadMap::out_of : HeadMap::into);
                                  },
                              .cases = {{{{0, 4}, {4, 3}}},
                                        {{{1, 1}, {1, 1}}, {{"out_of", 1}}},
                                        {{{2, 3, 5}, {5, 7}}},
                                        {{{5, 6}, {6, 33}}, {{"heads", 2}}},
                                        {{{2, 1, 12}, {9, 4}}, {{"heads", 3}, {"out_of", 1}}},
                                        {{{4, 17}, {5, 17}}, {{"out_of", 1}}}}};

}  // namespace tril
