#include "tril/ops/concat.h"

namespace tril {

Var reshape(Tape& tape, Var x, Shape shape) {
  if (shape.count() != x.count())
    shape_error("reshape", "x", x.shape(), std::to_string(shape.count()) + " numbers for " + shape.text());
  return tape.alias(x, shape);
}

Var concat(Tape& tape, Var x) {
  if (x.shape().rank() != 3) shape_error("concat", "x", x.shape(), "[B, T, D]");
  return reshape(tape, x, {x.dim(0), x.dim(1) * x.dim(2)});
}

const OpSpec concat_spec{
    .name = "concat",
    .torch = "torch.flatten",
    .arguments = {{"x"}},
    .call = [](Tape& tape, std::span<const Var> in, const Attributes&) { return concat(tape, in[0]); },
    .cases = {{{{0, 3, 4}}}, {{{1, 1, 1}}}, {{{2, 3, 5}}}}};

}  // namespace tril
