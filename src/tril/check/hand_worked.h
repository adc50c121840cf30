// The hand-worked example: four tokens, one head of width 2, small enough to follow with a pencil. Every
// value that the engine computes is held against numbers worked out apart from it (docs/attention.md does the
// arithmetic).
#pragma once
#include <string>
#include <utility>
#include <vector>

#include "tril/check/check.h"
#include "tril/tensor/tensor.h"

namespace tril {

struct HandWorkedValue {
  std::string name;
  Shape shape;
  std::vector<double> data;
  double worst = 0;  // largest difference to the known numbers
};
struct HandWorked {
  std::vector<HandWorkedValue> values;  // X, W_Q, W_K, W_V, W_O, Q, K, V, scores … contextual
  std::vector<CheckRow> checks;
};
HandWorked check_hand_worked();

}  // namespace tril
