// embedding: one row of a table for each id. A padding row, where there is one, gets no gradient, so it stays
// zero.
//   y[r, d]              = E[id[r], d]
//   dE[id[r], d]        += dy[r, d]   unless id[r] is the padding row
// Shapes: table E [V, D] | ids [...] (i32, 0 ≤ id < V) | y [..., D]. Gradients are added.
#pragma once
#include "tril/ops/op.h"

namespace tril {

/// `padding_row` −1: none. The ids must lie inside the table (require_ids checks those of a user).
Var embedding(Tape& tape, Var table, Var ids, int64_t padding_row = -1);
extern const OpSpec embedding_spec;

}  // namespace tril
