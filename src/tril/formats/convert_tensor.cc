#include "tril/formats/convert_tensor.h"

#include "tril/base/error.h"
#include "tril/base/quote.h"

namespace tril {

void copy_converted(const StoredTensor& from, const Tensor& to, const std::string& file) {
  const StoredTensor there = stored(from.name, to);
  if (from.type == there.type) return copy_stored(from, to, file);
  if (from.shape != there.shape)
    refuse("{}: tensor {} is {}, the model needs {}", file, in_quotes(from.name),
           describe(from.type, from.shape), describe(there.type, there.shape));
  with_real(to.dtype, [&](auto zero) {
    using T = decltype(zero);
    for (int64_t n = 0; n < to.count(); ++n) to.as<T>()[n] = static_cast<T>(element(from, n));
  });
}

}  // namespace tril
