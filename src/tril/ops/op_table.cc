#include "tril/ops/op_table.h"

#include <string_view>

#include "tril/ops/add.h"
#include "tril/ops/attention.h"
#include "tril/ops/concat.h"
#include "tril/ops/cross_entropy.h"
#include "tril/ops/dropout.h"
#include "tril/ops/embedding.h"
#include "tril/ops/gelu.h"
#include "tril/ops/gelu_tanh.h"
#include "tril/ops/head_linear.h"
#include "tril/ops/last_row.h"
#include "tril/ops/layer_norm.h"
#include "tril/ops/linear.h"
#include "tril/ops/linear_cross_entropy.h"
#include "tril/ops/lora_linear.h"
#include "tril/ops/mask.h"
#include "tril/ops/matmul.h"
#include "tril/ops/positions.h"
#include "tril/ops/relu.h"
#include "tril/ops/relu2.h"
#include "tril/ops/rms_norm.h"
#include "tril/ops/rotary.h"
#include "tril/ops/scale.h"
#include "tril/ops/softcap.h"
#include "tril/ops/softmax.h"
#include "tril/ops/swiglu.h"

namespace tril {

std::span<const OpSpec* const> op_table() {
  static const OpSpec* const all[] = {
      &add_spec,
      &attention_spec,
      &concat_spec,
      &cross_entropy_spec,
      &dropout_spec,
      &embedding_spec,
      &gelu_spec,
      &gelu_tanh_spec,
      &head_linear_spec,
      &last_row_spec,
      &layer_norm_spec,
      &linear_spec,
      &linear_cross_entropy_spec,
      &lora_linear_spec,
      &mask_spec,
      &matmul_spec,
      &relu_spec,
      &relu2_spec,
      &rms_norm_spec,
      &rotary_spec,
      &scale_spec,
      &slice_rows_spec,
      &softcap_spec,
      &softmax_spec,
      &swiglu_spec,
  };
  return all;
}

const OpSpec* find_op(std::string_view name) {
  for (const OpSpec* spec : op_table())
    if (name == spec->name) return spec;
  return nullptr;
}

}  // namespace tril
