// What every op shares: how it picks its implementation, how it says that shapes don't fit, and the row by
// which the suite checks it. What it leaves out: the ops themselves, one file each. Letters: B batch, T
// positions, R rows, C columns, V vocabulary, H heads, D width.
#pragma once
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "tril/autograd/tape.h"

namespace tril {

/// Throws std::invalid_argument "OP: ARGUMENT has shape GOT, expected EXPECTED". Models check a user's sizes
/// before they call an op, so this is what a programmer sees.
[[noreturn]] void shape_error(const char* op, const char* argument, const Shape& got,
                              const std::string& expected);
inline void require_shape(const char* op, const char* argument, const Shape& got, const Shape& expected) {
  if (got != expected) shape_error(op, argument, got, expected.text());
}

/// Every id must lie in [0, bound), or be negative where `negative_ok`; throws Refusal that names position
/// and id.
void require_ids(const char* op, const Tensor& ids, int64_t bound, bool negative_ok);

/// Rows that one piece of a threaded loop takes: enough that a piece is worth a thread. From the shape alone.
constexpr int64_t rows_per_piece(int64_t cols) {
  constexpr int64_t kNumbers = 1 << 14;
  return cols >= kNumbers ? 1 : kNumbers / (cols > 0 ? cols : 1);
}

// ---- the table's row
// ------------------------------------------------------------------------------------------

struct OpArgument {
  const char* name;
  bool ids = false;       // whole numbers below the case's id_bound
  bool optional = false;  // a case may leave it out with an empty shape
};

/// Numbers an op takes besides tensors, by name: "ignore", "heads", …
using Attributes = std::map<std::string, double>;
double attribute(const Attributes& attributes, const std::string& name, double otherwise);

struct OpCase {
  std::vector<Shape> shapes;  // one for each argument
  Attributes attributes = {};
  int64_t id_bound = 0;
  int64_t held_row = -1;  // a row of the first argument that is given no gradient by design
};

/// One row of the table (ops/op_table.h): it drives every check that all ops share.
struct OpSpec {
  const char* name;
  const char* torch;  // the PyTorch function with the same meaning
  std::vector<OpArgument> arguments;
  Var (*call)(Tape& tape, std::span<const Var> arguments, const Attributes& attributes);
  std::vector<OpCase> cases;
  double tolerance = 2e-5;    // |fast − double reference| ≤ tolerance · max(1, largest)
  bool kink_at_zero = false;  // inputs are kept away from 0, where the derivative jumps
};

}  // namespace tril
