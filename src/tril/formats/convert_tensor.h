// Weights from one precision to another. What it leaves out: other programs' packed types (ggml_types.h).
#pragma once
#include <string>

#include "tril/formats/stored_tensor.h"

namespace tril {

/// Copies a stored tensor into memory, each number rounded to the type there; the same type is copied bit for
/// bit. Throws Refusal where the shapes differ; `file` is for that text.
void copy_converted(const StoredTensor& from, const Tensor& to, const std::string& file);

}  // namespace tril
