#include "tril/ops/softcap.h"

#include <cmath>

#include "tril/ops/rows_maps.h"
#include "tril/ops/unary.h"

namespace tril {
namespace {

struct Function {
  static constexpr const char* kName = "softcap";
  double cap;
  template <class T>
  T value(T x) const {
    const T c = static_cast<T>(cap);
    return c * std::tanh(x / c);
  }
  template <class T>
  T slope(T x) const {
    const T t = std::tanh(x / static_cast<T>(cap));
    return 1 - t * t;
  }
  void fast(const float* x, float* y, int64_t n) const { rows::softcap(x, static_cast<float>(cap), y, n); }
  void fast_backward(const float*, const float* y, const float* dy, float* dx, int64_t n) const {
    rows::softcap_backward(y, static_cast<float>(cap), dy, dx, n);
  }
};

}  // namespace

Var softcap(Tape& tape, Var x, double cap) {
  return unary(Function{cap}, tape, x);
}

const OpSpec softcap_spec{
    .name = "softcap",
    .torch = "torch.tanh, scaled",
    .arguments = {{"x"}},
    .call = [](Tape& tape, std::span<const Var> in,
               const Attributes& a) { return softcap(tape, in[0], attribute(a, "cap", 1)); },
    .cases = {
        {{{0, 8}}}, {{{1, 1}}}, {{{3, 5}}, {{"cap", 0.5}}}, {{{2, 2, 17}}}, {{{129, 131}}, {{"cap", 30}}}}};

}  // namespace tril
