#include "tril/ops/gelu_tanh.h"

#include <cmath>

#include "tril/ops/rows_maps.h"
#include "tril/ops/unary.h"

namespace tril {
namespace {

constexpr double kRoot = 0.79788456080286535588, kCubic = 0.044715;  // √(2/π)

struct Function {
  static constexpr const char* kName = "gelu_tanh";
  template <class T>
  static T bent(T x) {
    return std::tanh(static_cast<T>(kRoot) * (x + static_cast<T>(kCubic) * x * x * x));
  }
  template <class T>
  T value(T x) const {
    return x / 2 * (1 + bent(x));
  }
  template <class T>
  T slope(T x) const {
    const T t = bent(x), inner = static_cast<T>(kRoot) * (1 + 3 * static_cast<T>(kCubic) * x * x);
    return (1 + t) / 2 + x / 2 * (1 - t * t) * inner;
  }
  void fast(const float* x, float* y, int64_t n) const { rows::gelu_tanh(x, y, n); }
  void fast_backward(const float* x, const float*, const float* dy, float* dx, int64_t n) const {
    rows::gelu_tanh_backward(x, dy, dx, n);
  }
};

}  // namespace

Var gelu_tanh(Tape& tape, Var x) {
  return unary(Function{}, tape, x);
}

const OpSpec gelu_tanh_spec{
    .name = "gelu_tanh",
    .torch = "torch.nn.functional.gelu, approximate=tanh",
    .arguments = {{"x"}},
    .call = [](Tape& tape, std::span<const Var> in, const Attributes&) { return gelu_tanh(tape, in[0]); },
    .cases = {{{{0, 8}}}, {{{1, 1}}}, {{{3, 5}}}, {{{2, 2, 17}}}, {{{129, 131}}}}};

}  // namespace tril
