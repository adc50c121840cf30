#include "tril/ops/positions.h"

#include <cassert>
#include <cmath>

namespace tril {

Var slice_rows(Tape& tape, Var table, int64_t start, int64_t count) {
  if (table.shape().rank() != 2 || start < 0 || count < 0 || start + count > table.dim(0))
    shape_error("slice_rows", "table", table.shape(),
                "[C, D] with C ≥ " + std::to_string(start) + " + " + std::to_string(count));
  const int64_t width = table.dim(1), bytes = start * width * size_of(tape.dtype());
  char* const value = static_cast<char*>(table.value().data);
  char* const grad = static_cast<char*>(table.grad().data);
  return tape.leaf({{count, width}, tape.dtype(), value + bytes}, grad != nullptr ? grad + bytes : nullptr);
}

Tensor sinusoidal_rows(Arena& arena, DType dtype, int64_t start, int64_t count, int64_t width) {
  assert(width % 2 == 0);
  const Tensor out = arena.tensor({count, width}, dtype);
  if (arena.counting()) return out;
  with_real(dtype, [&](auto zero) {
    using T = decltype(zero);
    for (int64_t c = 0; c < width; c += 2) {
      const double rate = std::pow(10000.0, -static_cast<double>(c) / static_cast<double>(width));
      for (int64_t t = 0; t < count; ++t) {
        const double angle = static_cast<double>(start + t) * rate;
        out.as<T>()[t * width + c] = static_cast<T>(std::sin(angle));
        out.as<T>()[t * width + c + 1] = static_cast<T>(std::cos(angle));
      }
    }
  });
  return out;
}

const OpSpec slice_rows_spec{
    .name = "slice_rows",
    .torch = "torch.Tensor.narrow",
    .arguments = {{"table"}},
    .call =
        [](Tape& tape, std::span<const Var> in, const Attributes& a) {
          const int64_t start = static_cast<int64_t>(attribute(a, "start", 0));
          return slice_rows(tape, in[0], start,
                            static_cast<int64_t>(attribute(a, "count", double(in[0].dim(0) - start))));
        },
    .cases = {{{{0, 3}}}, {{{1, 1}}}, {{{5, 3}}, {{"start", 2}}}, {{{9, 17}}, {{"start", 1}, {"count", 4}}}}};

}  // namespace tril
