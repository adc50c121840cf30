#include "tril/formats/gguf_writer.h"

#include <cassert>

#include "tril/base/interrupt.h"
#include "tril/formats/gguf.h"

namespace tril {
namespace {
constexpr uint64_t kAlignment = 32;
constexpr uint32_t kVersion = 3;

template <class T>
void put(std::string& out, T value) {
  out.append(reinterpret_cast<const char*>(&value), sizeof value);
}

void put_string(std::string& out, std::string_view text) {
  put(out, static_cast<uint64_t>(text.size()));
  out += text;
}

uint64_t aligned(uint64_t at) {
  return (at + kAlignment - 1) / kAlignment * kAlignment;
}

uint32_t number_of(GgufType type) {
  return static_cast<uint32_t>(type);
}
}  // namespace

void GgufWriter::begin(std::string_view key, uint32_t type) {
  put_string(keys_, key);
  put(keys_, type);
  ++key_count_;
}

void GgufWriter::text(std::string_view key, std::string_view value) {
  begin(key, number_of(GgufType::kString));
  put_string(keys_, value);
}

void GgufWriter::u32(std::string_view key, uint32_t value) {
  begin(key, number_of(GgufType::kU32));
  put(keys_, value);
}

void GgufWriter::f32(std::string_view key, float value) {
  begin(key, number_of(GgufType::kF32));
  put(keys_, value);
}

void GgufWriter::flag(std::string_view key, bool value) {
  begin(key, number_of(GgufType::kBool));
  put(keys_, static_cast<uint8_t>(value));
}

void GgufWriter::texts(std::string_view key, std::span<const std::string> values) {
  begin(key, number_of(GgufType::kArray));
  put(keys_, number_of(GgufType::kString));
  put(keys_, static_cast<uint64_t>(values.size()));
  for (const std::string& value : values) put_string(keys_, value);
}

void GgufWriter::i32s(std::string_view key, std::span<const int32_t> values) {
  begin(key, number_of(GgufType::kArray));
  put(keys_, number_of(GgufType::kI32));
  put(keys_, static_cast<uint64_t>(values.size()));
  for (const int32_t value : values) put(keys_, value);
}

void GgufWriter::tensor(std::string name, std::vector<int64_t> shape, const GgmlType& type) {
  assert(!shape.empty() && shape.size() <= 4 && shape.back() % type.block == 0);
  int64_t elements = 1;
  for (const int64_t size : shape) elements *= size;
  const auto bytes = static_cast<uint64_t>(elements / type.block * type.bytes);
  tensors_.push_back({std::move(name), std::move(shape), &type, aligned(end_), bytes});
  end_ = tensors_.back().offset + bytes;
}

void GgufWriter::write(FileWriter& file, const std::function<void(size_t, std::span<float>)>& numbers) const {
  std::string head = "GGUF";
  put(head, kVersion);
  put(head, static_cast<uint64_t>(tensors_.size()));
  put(head, key_count_);
  head += keys_;
  for (const Entry& entry : tensors_) {
    put_string(head, entry.name);
    put(head, static_cast<uint32_t>(entry.shape.size()));
    for (auto size = entry.shape.rbegin(); size != entry.shape.rend(); ++size)
      put(head, static_cast<uint64_t>(*size));
    put(head, entry.type->id);
    put(head, entry.offset);
  }
  head.resize(aligned(head.size()), '\0');
  file.write(head);
  std::vector<float> values;
  std::string bytes;
  for (size_t i = 0; i < tensors_.size(); ++i) {
    interrupt::check();
    const Entry& entry = tensors_[i];
    values.resize(
        static_cast<size_t>(static_cast<int64_t>(entry.bytes) / entry.type->bytes * entry.type->block));
    numbers(i, values);
    quantise(*entry.type, values, bytes);
    assert(bytes.size() == entry.bytes);
    bytes.resize(aligned(bytes.size()), '\0');
    file.write(bytes);
  }
}

}  // namespace tril
