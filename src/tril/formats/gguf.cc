#include "tril/formats/gguf.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <cstring>
#include <set>

#include "tril/base/error.h"
#include "tril/base/quote.h"
#include "tril/base/sniff.h"

namespace tril {
namespace {
constexpr std::string_view kMagic = "GGUF";
constexpr uint32_t kMostDimensions = 4;
constexpr uint64_t kLongestKey = 65535;
// The least bytes that a key with its value, and a tensor's entry, take: what a count can be held against.
constexpr uint64_t kLeastValue = 8 + 1 + 4 + 1, kLeastTensor = 8 + 1 + 4 + 4 + 8;

struct TypeRow {
  std::string_view name;
  uint64_t size;  // 0: of no fixed size
};
constexpr std::array<TypeRow, 13> kTypes = {{{"u8", 1},
                                             {"i8", 1},
                                             {"u16", 2},
                                             {"i16", 2},
                                             {"u32", 4},
                                             {"i32", 4},
                                             {"f32", 4},
                                             {"bool", 1},
                                             {"string", 0},
                                             {"array", 0},
                                             {"u64", 8},
                                             {"i64", 8},
                                             {"f64", 8}}};

template <class T>
T load(const char* at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

/// Reads the file from its start; every step is held against what is left.
class Reader {
 public:
  Reader(std::string_view bytes, const std::string& path) : all_(bytes), rest_(bytes), path_(path) {}

  GgufView read() {
    GgufView view;
    view.version = read_start();
    const auto tensors = take<uint64_t>("the number of tensors"),
               values = take<uint64_t>("the number of keys");
    if (values > rest_.size() / kLeastValue) {
      refuse("{}: claims {} keys, {} bytes follow", path_, values, rest_.size());
    }
    if (tensors > rest_.size() / kLeastTensor) {
      refuse("{}: claims {} tensors, {} bytes follow", path_, tensors, rest_.size());
    }
    for (uint64_t i = 0; i < values; ++i) read_value(view);
    for (uint64_t i = 0; i < tensors; ++i) read_tensor(view);
    place_tensors(view);
    return view;
  }

 private:
  struct Placed {
    uint64_t offset, size;
    size_t index;
  };

  [[noreturn]] void cut(const std::string& what) {
    refuse("{}: ends within {} (byte {}): it is cut (a broken download?)", path_, what, all_.size());
  }

  std::string_view take_bytes(uint64_t size, const std::string& what) {
    if (size > rest_.size()) cut(what);
    const std::string_view taken = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return taken;
  }

  template <class T>
  T take(const std::string& what) {
    return load<T>(take_bytes(sizeof(T), what).data());
  }

  std::string_view take_string(const std::string& what) {
    const auto length = take<uint64_t>(what);
    return take_bytes(length, what);
  }

  uint32_t read_start() {
    if (all_.empty()) refuse("{}: is empty, a GGUF file is needed", path_);
    if (!all_.starts_with(kMagic)) {
      const auto seen = sniff(all_.substr(0, kSniffBytes), all_.size());
      refuse("{}: is no GGUF file{}", path_,
             seen && seen->kind != FileKind::kBinary
                 ? fmt::format(", it looks like {}: {}", seen->name, seen->advice)
                 : "");
    }
    take_bytes(kMagic.size(), "its first bytes");
    const auto version = take<uint32_t>("its version");
    if (version == 0x02000000u || version == 0x03000000u) {
      refuse("{}: is a big-endian GGUF file; tril reads little-endian ones", path_);
    }
    if (version != 2 && version != 3) refuse("{}: is of GGUF version {}; 2 and 3 are known", path_, version);
    return version;
  }

  GgufType take_type(const std::string& what) {
    const auto type = take<uint32_t>(what);
    if (type >= kTypes.size()) refuse("{}: {}: value type {} is not known", path_, what, type);
    return static_cast<GgufType>(type);
  }

  void read_value(GgufView& view) {
    const std::string_view key = take_string("a key");
    if (key.empty()) refuse("{}: has an empty key", path_);
    if (key.size() > kLongestKey) refuse("{}: has a key of {} bytes", path_, key.size());
    const std::string what = fmt::format("key {}", in_quotes(key));
    if (!keys_.insert(key).second) refuse("{}: {} comes twice", path_, what);
    GgufValue value = take_value(take_type(what), what);
    if (key == "general.alignment") view.alignment = alignment_of(value);
    view.values.emplace_back(std::string(key), std::move(value));
  }

  uint64_t alignment_of(const GgufValue& value) {
    const auto* number = std::get_if<uint64_t>(&value);
    if (number == nullptr || *number < 1 || *number > 1 << 20 || (*number & (*number - 1)) != 0) {
      refuse("{}: general.alignment is {}; a power of two is needed", path_,
             number != nullptr ? fmt::format("{}", *number) : "no unsigned number");
    }
    return *number;
  }

  GgufValue take_value(GgufType type, const std::string& what) {
    switch (type) {
      case GgufType::kU8:
        return uint64_t{take<uint8_t>(what)};
      case GgufType::kI8:
        return int64_t{take<int8_t>(what)};
      case GgufType::kU16:
        return uint64_t{take<uint16_t>(what)};
      case GgufType::kI16:
        return int64_t{take<int16_t>(what)};
      case GgufType::kU32:
        return uint64_t{take<uint32_t>(what)};
      case GgufType::kI32:
        return int64_t{take<int32_t>(what)};
      case GgufType::kU64:
        return take<uint64_t>(what);
      case GgufType::kI64:
        return take<int64_t>(what);
      case GgufType::kF32:
        return static_cast<double>(take<float>(what));
      case GgufType::kF64:
        return take<double>(what);
      case GgufType::kBool: {
        const auto byte = take<uint8_t>(what);
        if (byte > 1) refuse("{}: {}: a truth value is {}", path_, what, byte);
        return byte == 1;
      }
      case GgufType::kString:
        return take_string(what);
      case GgufType::kArray:
        break;
    }
    return take_array(what);
  }

  GgufArray take_array(const std::string& what) {
    const GgufType type = take_type(what);
    const auto count = take<uint64_t>(what);
    if (type == GgufType::kArray) refuse("{}: {}: arrays of arrays are not read", path_, what);
    const uint64_t size = kTypes[static_cast<size_t>(type)].size;
    const uint64_t least = type == GgufType::kString ? 8 : size;
    if (count > rest_.size() / least) {
      refuse("{}: {} claims {} elements of type {}, {} bytes follow", path_, what, count, name_of(type),
             rest_.size());
    }
    const std::string_view start = rest_;
    if (type == GgufType::kString) {
      for (uint64_t i = 0; i < count; ++i) take_string(what);
    } else {
      take_bytes(count * size, what);
    }
    return {type, count, start.substr(0, start.size() - rest_.size())};
  }

  void read_tensor(GgufView& view) {
    const std::string_view name = take_string("a tensor's name");
    const std::string what = fmt::format("tensor {}", in_quotes(name));
    if (!names_.insert(name).second) refuse("{}: {} comes twice", path_, what);
    const auto rank = take<uint32_t>(what);
    if (rank > kMostDimensions)
      refuse("{}: {} has {} dimensions, the most is {}", path_, what, rank, kMostDimensions);
    GgufTensor tensor{std::string(name), nullptr, {}, {}};
    for (uint32_t i = 0; i < rank; ++i) {
      const auto size = take<uint64_t>(what);
      if (size > INT64_MAX) refuse("{}: {} has a size of {}", path_, what, size);
      tensor.shape.insert(tensor.shape.begin(), static_cast<int64_t>(size));
    }
    const auto type = take<uint32_t>(what);
    tensor.type = find_ggml_type(type);
    if (tensor.type == nullptr) refuse("{}: {} is of type {}, which is not known", path_, what, type);
    const auto offset = take<uint64_t>(what);
    if (offset % view.alignment != 0) {
      refuse("{}: {} lies at byte {} of the data, no multiple of {}", path_, what, offset, view.alignment);
    }
    placed_.push_back({offset, bytes_of(tensor, what), view.tensors.size()});
    view.tensors.push_back(std::move(tensor));
  }

  uint64_t bytes_of(const GgufTensor& tensor, const std::string& what) {
    int64_t elements = 1, bytes = 0;
    bool fits = true;
    for (const int64_t size : tensor.shape) fits = fits && !__builtin_mul_overflow(elements, size, &elements);
    const int64_t row = tensor.shape.empty() ? 1 : tensor.shape.back();
    if (row % tensor.type->block != 0) {
      refuse("{}: {}: rows of {} elements are no whole blocks of {}", path_, what, row, tensor.type->name);
    }
    fits = fits && !__builtin_mul_overflow(elements / tensor.type->block, tensor.type->bytes, &bytes);
    if (!fits) refuse("{}: {} is larger than any file", path_, what);
    return static_cast<uint64_t>(bytes);
  }

  /// Gives each tensor its bytes: all within the data, none over another.
  void place_tensors(GgufView& view) {
    const uint64_t here = all_.size() - rest_.size();
    const uint64_t begin = (here + view.alignment - 1) / view.alignment * view.alignment;
    if (begin > all_.size() && !placed_.empty()) cut("the gap before its data");
    const std::string_view data = all_.substr(std::min<uint64_t>(begin, all_.size()));
    std::sort(placed_.begin(), placed_.end(), [](const Placed& a, const Placed& b) {
      return a.offset != b.offset ? a.offset < b.offset : a.size < b.size;
    });
    uint64_t at = 0, unused = 0;
    const Placed* before = nullptr;
    for (const Placed& place : placed_) {
      GgufTensor& tensor = view.tensors[place.index];
      if (place.offset > data.size() || place.size > data.size() - place.offset) {
        refuse("{}: tensor {} needs {} bytes at {} of the data, which has {} (a cut download?)", path_,
               in_quotes(tensor.name), place.size, place.offset, data.size());
      }
      if (place.offset < at) {
        refuse("{}: tensors {} and {} overlap", path_, in_quotes(view.tensors[before->index].name),
               in_quotes(tensor.name));
      }
      const uint64_t gap = place.offset - at;
      unused += gap >= view.alignment ? gap : 0;
      tensor.bytes = data.substr(place.offset, place.size);
      at = place.offset + place.size;
      before = &place;
    }
    view.unused = unused + (data.size() - at >= view.alignment ? data.size() - at : 0);
  }

  std::string_view all_, rest_;
  const std::string& path_;
  std::set<std::string_view> keys_, names_;
  std::vector<Placed> placed_;
};
}  // namespace

std::string_view name_of(GgufType type) {
  return kTypes[static_cast<size_t>(type)].name;
}

GgufView parse_gguf(std::string_view bytes, const std::string& path) {
  return Reader(bytes, path).read();
}

const GgufValue* GgufFile::find(std::string_view key) const {
  for (const auto& [name, value] : view_.values) {
    if (name == key) return &value;
  }
  return nullptr;
}

const GgufTensor* GgufFile::find_tensor(std::string_view name) const {
  for (const GgufTensor& tensor : view_.tensors) {
    if (tensor.name == name) return &tensor;
  }
  return nullptr;
}

const GgufArray& GgufFile::array(std::string_view key, GgufType type) const {
  const GgufValue* value = find(key);
  if (value == nullptr) refuse("{}: lacks the key {}", path(), in_quotes(key));
  const auto* array = std::get_if<GgufArray>(value);
  if (array == nullptr || array->type != type) {
    refuse("{}: key {} is {}, an array of {} is needed", path(), in_quotes(key),
           array == nullptr ? std::string("no array") : fmt::format("an array of {}", name_of(array->type)),
           name_of(type));
  }
  return *array;
}

std::vector<std::string_view> strings_of(const GgufArray& array) {
  assert(array.type == GgufType::kString);
  std::vector<std::string_view> strings;
  std::string_view rest = array.bytes;
  while (!rest.empty()) {
    const auto length = load<uint64_t>(rest.data());
    strings.push_back(rest.substr(8, length));
    rest.remove_prefix(8 + length);
  }
  return strings;
}

std::vector<std::string_view> GgufFile::strings(std::string_view key) const {
  return strings_of(array(key, GgufType::kString));
}

std::vector<float> GgufFile::floats(std::string_view key) const {
  const GgufArray& found = array(key, GgufType::kF32);
  std::vector<float> values(found.count);
  if (!values.empty()) std::memcpy(values.data(), found.bytes.data(), found.bytes.size());
  return values;
}

std::vector<int32_t> GgufFile::integers(std::string_view key) const {
  const GgufArray& found = array(key, GgufType::kI32);
  std::vector<int32_t> values(found.count);
  if (!values.empty()) std::memcpy(values.data(), found.bytes.data(), found.bytes.size());
  return values;
}

void refuse_unreadable(const GgufTensor& tensor, const std::string& path) {
  if (tensor.type->readable) return;
  refuse(
      "{}: tensor {} is of type {}, whose values tril doesn't read; convert the file to F16, Q8_0, Q4_0 or "
      "Q4_1",
      path, in_quotes(tensor.name), tensor.type->name);
}

void GgufFile::to_float(const GgufTensor& tensor, std::span<float> out) const {
  refuse_unreadable(tensor, path());
  dequantise(*tensor.type, tensor.bytes, out);
}

}  // namespace tril
