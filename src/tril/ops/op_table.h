// The table of ops: a plain list. Each row drives the checks that all ops share (op_table_test.cc,
// parity_test.cc, the kernel benchmark). An op without a row fails the suite.
#pragma once
#include <span>

#include "tril/ops/op.h"

namespace tril {

std::span<const OpSpec* const> op_table();
/// Null where there is none of that name.
const OpSpec* find_op(std::string_view name);

}  // namespace tril
