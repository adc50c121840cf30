#include "tril/ops/relu2.h"

#include <cmath>

#include "tril/ops/rows_maps.h"
#include "tril/ops/unary.h"

namespace tril {
namespace {

struct Function {
  static constexpr const char* kName = "relu2";
  template <class T>
  T value(T x) const {
    return x < 0 ? T{0} : x * x;
  }
  template <class T>
  T slope(T x) const {
    return x < 0 ? T{0} : 2 * x;
  }
  void fast(const float* x, float* y, int64_t n) const { rows::relu2(x, y, n); }
  void fast_backward(const float* x, const float*, const float* dy, float* dx, int64_t n) const {
    rows::relu2_backward(x, dy, dx, n);
  }
};

}  // namespace

Var relu2(Tape& tape, Var x) {
  return unary(Function{}, tape, x);
}

const OpSpec relu2_spec{
    .name = "relu2",
    .torch = "torch.nn.functional.relu, squared",
    .arguments = {{"x"}},
    .call = [](Tape& tape, std::span<const Var> in, const Attributes&) { return relu2(tape, in[0]); },
    .cases = {{{{0, 8}}}, {{{1, 1}}}, {{{3, 5}}}, {{{2, 2, 17}}}, {{{129, 131}}}},
    .kink_at_zero = true};

}  // namespace tril
