#include "tril/formats/foreign_tensors.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "tril/base/error.h"
#include "tril/base/hash.h"
#include "tril/base/interrupt.h"
#include "tril/base/quote.h"
#include "tril/formats/tensor_range.h"

namespace tril {
namespace {

bool by_name(const ForeignTensor& tensor, std::string_view name) {
  return tensor.name < name;
}

std::string shape_text(const std::vector<int64_t>& shape) {
  return fmt::format("[{}]", fmt::join(shape, ", "));
}

// "; missing: 'a', 'b' … (30 in all)", and "" for none.
std::string listed(const char* what, const std::vector<std::string>& names) {
  constexpr size_t kMost = 20;
  if (names.empty()) return "";
  const auto end = names.begin() + static_cast<std::ptrdiff_t>(std::min(names.size(), kMost));
  return fmt::format("; {}: {}{}", what, fmt::join(names.begin(), end, ", "),
                     names.size() > kMost ? fmt::format(" ... ({} in all)", names.size()) : "");
}

}  // namespace

int64_t ForeignTensor::elements() const {
  if (const auto* plain = std::get_if<StoredTensor>(&stored)) return tril::elements(*plain);
  return std::get<GgufTensor>(stored).elements();
}

bool ForeignTensor::is_real() const {
  return type.find('F') != type.npos || type.find('Q') != type.npos;  // BF16, F64, Q4_1; not I8, U8, BOOL
}

void ForeignTensor::to_float(std::span<float> out) const {
  if (const auto* plain = std::get_if<StoredTensor>(&stored)) return tril::to_float(*plain, out);
  const auto& packed = std::get<GgufTensor>(stored);
  refuse_unreadable(packed, file);
  dequantise(*packed.type, packed.bytes, out);
}

void ForeignTensors::push(ForeignTensor tensor) {
  const auto at = std::lower_bound(all_.begin(), all_.end(), std::string_view(tensor.name), by_name);
  if (at != all_.end() && at->name == tensor.name)
    refuse("{}: tensor {} is in {} too", tensor.file, in_quotes(tensor.name), at->file);
  all_.insert(at, std::move(tensor));
}

void ForeignTensors::add(std::unique_ptr<SafetensorsFile> file) {
  for (const StoredTensor& tensor : file->tensors())
    push({tensor.name, tensor.shape, name_of(tensor.type), tensor, file->path()});
  safetensors_.push_back(std::move(file));
}

void ForeignTensors::add(std::shared_ptr<const GgufFile> file) {
  for (const GgufTensor& tensor : file->tensors())
    push({tensor.name, tensor.shape, tensor.type->name, tensor, file->path()});
  gguf_.push_back(std::move(file));
}

void ForeignTensors::add(MappedFile file, std::vector<StoredTensor> tensors) {
  for (StoredTensor& tensor : tensors)
    push({tensor.name, tensor.shape, name_of(tensor.type), tensor, file.path()});
  plain_.push_back(std::move(file));
}

const ForeignTensor* ForeignTensors::find(std::string_view name) const {
  const auto at = std::lower_bound(all_.begin(), all_.end(), name, by_name);
  return at != all_.end() && at->name == name ? &*at : nullptr;
}

void ForeignTensors::prefix(std::string_view prefix) {
  std::vector<ForeignTensor> renamed;
  renamed.swap(all_);
  for (ForeignTensor& tensor : renamed) {
    if (!tensor.name.starts_with(prefix)) tensor.name.insert(0, prefix);
    push(std::move(tensor));
  }
}

void ForeignTensors::remove(std::string_view name) {
  std::erase_if(all_, [&](const ForeignTensor& tensor) { return tensor.name == name; });
}

uint64_t ForeignTensors::bytes() const {
  uint64_t sum = 0;
  for (const ForeignTensor& tensor : all_)
    std::visit([&](const auto& stored) { sum += stored.bytes.size(); }, tensor.stored);
  return sum;
}

void add_tensor(Sha256& hash, std::string_view name, std::string_view bytes) {
  hash.add(name);
  hash.add(std::string_view("\0", 1));
  hash.add(bytes);
}

std::string ForeignTensors::sha256() const {
  Sha256 hash;
  for (const ForeignTensor& tensor : all_)
    add_tensor(hash, tensor.name, std::visit([](const auto& stored) { return stored.bytes; }, tensor.stored));
  return to_hex(hash.digest());
}

void ForeignTensors::require(std::span<const LayoutTensor> needed, const std::string& where) const {
  std::vector<std::string> missing, extra, misshapen, whole;
  std::set<std::string_view> names;
  for (const LayoutTensor& tensor : needed) {
    names.insert(tensor.name);
    const ForeignTensor* found = find(tensor.name);
    if (found == nullptr) {
      missing.push_back(in_quotes(tensor.name));
    } else if (found->shape != tensor.shape) {
      misshapen.push_back(fmt::format("{} is {}, needs {}", in_quotes(tensor.name), shape_text(found->shape),
                                      shape_text(tensor.shape)));
    } else if (!found->is_real()) {
      whole.push_back(fmt::format("{} is {}", in_quotes(tensor.name), found->type));
    }
  }
  for (const ForeignTensor& tensor : all_)
    if (names.count(tensor.name) == 0) extra.push_back(in_quotes(tensor.name));
  if (missing.empty() && extra.empty() && misshapen.empty() && whole.empty()) return;
  refuse("{}: the tensors are not those of the model that its configuration tells{}{}{}{}", where,
         listed("missing", missing), listed("not known", extra), listed("of another shape", misshapen),
         listed("not of real numbers", whole));
}

void ForeignTensors::copy_to(std::span<const LayoutTensor> needed, Parameters& parameters) const {
  std::vector<float> numbers;
  for (const LayoutTensor& tensor : needed) {
    interrupt::check();
    const ForeignTensor& found = *find(tensor.name);
    numbers.resize(static_cast<size_t>(found.elements()));
    found.to_float(numbers);
    scatter(tensor, numbers, parameters);
  }
}

void remove_buffers(ForeignTensors& tensors) {
  std::vector<std::string> buffers;
  for (const ForeignTensor& tensor : tensors.all()) {
    for (const char* end : {".attn.bias", ".attn.masked_bias", ".rotary_emb.inv_freq"})
      if (tensor.name.ends_with(end)) buffers.push_back(tensor.name);
  }
  for (const std::string& name : buffers) tensors.remove(name);
}

bool equal_numbers(const ForeignTensor& a, const ForeignTensor& b) {
  if (a.shape != b.shape) return false;
  const auto bytes = [](const ForeignTensor& tensor) {
    return std::visit([](const auto& stored) { return stored.bytes; }, tensor.stored);
  };
  if (a.type == b.type && bytes(a) == bytes(b)) return true;
  std::vector<float> left(static_cast<size_t>(a.elements())), right(left.size());
  a.to_float(left), b.to_float(right);
  return left == right;
}

std::vector<std::string> not_finite(const ForeignTensors& tensors) {
  std::vector<std::string> found;
  std::vector<float> values;
  for (const ForeignTensor& tensor : tensors.all()) {
    const auto* plain = std::get_if<StoredTensor>(&tensor.stored);
    if (plain != nullptr && plain->type == StoredType::kF64) plain = nullptr;  // may be beyond a float
    StoredTensor read;
    if (plain == nullptr) {
      values.resize(static_cast<size_t>(tensor.elements()));
      tensor.to_float(values);
      read = {"",
              StoredType::kF32,
              {tensor.elements()},
              {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float)}};
    }
    const std::string what = not_finite(range_of(plain != nullptr ? *plain : read));
    if (!what.empty())
      found.push_back(fmt::format("{}: tensor {} {}", tensor.file, in_quotes(tensor.name), what));
  }
  return found;
}

}  // namespace tril
