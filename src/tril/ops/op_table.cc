#include "tril/ops/op_table.h"

#include <string_view>

#include "tril/ops/add.h"
#include "tril/ops/attention.h"
#include "tril/ops/concat.h"
#include "tril/ops/cross_entropy.h"
#include "tril/ops/embedding.h"
#include "tril/ops/last_row.h"
#include "tril/ops/linear.h"
#include "tril/ops/mask.h"
#include "tril/ops/matmul.h"
#include "tril/ops/relu.h"
#include "tril/ops/scale.h"
#include "tril/ops/softmax.h"

namespace tril {

std::span<const OpSpec* const> op_table() {
  static const OpSpec* const all[] = {
      &add_spec,    &attention_spec, &concat_spec, &cross_entropy_spec, &embedding_spec, &last_row_spec,
      &linear_spec, &mask_spec,      &matmul_spec, &relu_spec,          &scale_spec,     &softmax_spec,
  };
  return all;
}

const OpSpec* find_op(std::string_view name) {
  for (const OpSpec* spec : op_table())
    if (name == spec->name) return spec;
  return nullptr;
}

}  // namespace tril
