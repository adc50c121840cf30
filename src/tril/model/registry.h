// The registry: from a configuration to a model. A plain list of families.
#pragma once
#include <memory>

#include "tril/model/model.h"

namespace tril {

/// A model with its weights allocated and zero. Throws Refusal for a family it does not know.
std::unique_ptr<Model> make_model(const ModelConfig& config, DType dtype);

}  // namespace tril
