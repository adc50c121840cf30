#include "tril/ops/gelu.h"

#include <cmath>

#include "tril/ops/rows_maps.h"
#include "tril/ops/unary.h"

namespace tril {
namespace {

struct Function {
  static constexpr const char* kName = "gelu";
  template <class T>
  static T below(T x) {
    return std::erfc(-x * static_cast<T>(0.70710678118654752440)) / 2;
  }
  template <class T>
  T value(T x) const {
    return x * below(x);
  }
  template <class T>
  T slope(T x) const {
    return below(x) + x * std::exp(-x * x / 2) * static_cast<T>(0.39894228040143267794);
  }
  void fast(const float* x, float* y, int64_t n) const { rows::gelu(x, y, n); }
  void fast_backward(const float* x, const float*, const float* dy, float* dx, int64_t n) const {
    rows::gelu_backward(x, dy, dx, n);
  }
};

}  // namespace

Var gelu(Tape& tape, Var x) {
  return unary(Function{}, tape, x);
}

const OpSpec gelu_spec{
    .name = "gelu",
    .torch = "torch.nn.functional.gelu",
    .arguments = {{"x"}},
    .call = [](Tape& tape, std::span<const Var> in, const Attributes&) { return gelu(tape, in[0]); },
    .cases = {{{{0, 8}}}, {{{1, 1}}}, {{{3, 5}}}, {{{2, 2, 17}}}, {{{129, 131}}}}};

}  // namespace tril
