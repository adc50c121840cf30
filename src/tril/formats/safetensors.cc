#include "tril/formats/safetensors.h"

#include <algorithm>
#include <cassert>
#include <cstring>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <tuple>

#include "tril/base/error.h"
#include "tril/base/interrupt.h"
#include "tril/base/quote.h"
#include "tril/base/sniff.h"

namespace tril {
namespace {
using nlohmann::json;

constexpr uint64_t kLengthBytes = 8;
constexpr uint64_t kLargestHeader = 100'000'000;  // the reference library's limit
constexpr size_t kMostDimensions = 8;
constexpr std::string_view kMetadataName = "__metadata__";

struct Entry {
  StoredTensor tensor;
  uint64_t begin = 0, end = 0;
};

/// Reads the header's JSON as a stream of events: nothing is built that the header's own bytes don't pay for,
/// a name that comes twice is seen, and a value of the wrong kind is refused where it stands.
class HeaderReader final : public nlohmann::json_sax<json> {
 public:
  explicit HeaderReader(const std::string& path) : path_(path) {}

  std::vector<Entry> entries;
  Metadata metadata;

  bool start_object(size_t) override {
    if (place_ == Place::kStart) return enter(Place::kHeader);
    if (place_ != Place::kHeader) fail("an object");
    return enter(name_ == kMetadataName ? Place::kMetadata : Place::kTensor);
  }

  bool key(std::string& key) override {
    if (place_ == Place::kHeader) {
      if (!names_.insert(key).second) refuse("{}: name {} occurs twice in the header", path_, in_quotes(key));
      name_ = key;
      fields_.clear();
      if (key != kMetadataName) entries.emplace_back().tensor.name = key;
      return true;
    }
    field_ = key;
    if (!fields_.insert(key).second) {
      refuse("{}: {} of {} occurs twice in the header", path_, in_quotes(key), in_quotes(name_));
    }
    const bool known = key == "dtype" || key == "shape" || key == "data_offsets";
    if (place_ == Place::kTensor && !known) {
      refuse("{}: tensor {} has an unknown field {}", path_, in_quotes(name_), in_quotes(key));
    }
    return true;
  }

  bool end_object() override {
    if (place_ == Place::kTensor) {
      for (const char* field : {"dtype", "shape", "data_offsets"}) {
        if (fields_.count(field) == 0) refuse("{}: tensor {} has no {}", path_, in_quotes(name_), field);
      }
      if (offsets_ != 2) fail("a list of one number or none");
      offsets_ = 0;
    }
    return enter(place_ == Place::kHeader ? Place::kEnd : Place::kHeader);
  }

  bool start_array(size_t) override {
    if (place_ == Place::kTensor && field_ == "shape") return enter(Place::kShape);
    if (place_ == Place::kTensor && field_ == "data_offsets") return enter(Place::kOffsets);
    fail("a list");
  }
  bool end_array() override { return enter(Place::kTensor); }

  bool string(std::string& value) override {
    if (place_ == Place::kMetadata) {
      metadata[field_] = value;
      return true;
    }
    if (place_ != Place::kTensor || field_ != "dtype") fail("a text");
    if (!stored_type_by_name(value, entries.back().tensor.type)) {
      refuse("{}: tensor {} has dtype {}, which tril doesn't read (names are upper case, as F32)", path_,
             in_quotes(name_), in_quotes(value));
    }
    return true;
  }

  bool number_unsigned(uint64_t value) override {
    if (place_ == Place::kShape) {
      std::vector<int64_t>& shape = entries.back().tensor.shape;
      if (shape.size() == kMostDimensions) {
        refuse("{}: tensor {} has more than {} dimensions", path_, in_quotes(name_), kMostDimensions);
      }
      if (value > INT64_MAX)
        refuse("{}: tensor {} has a size of {} in its shape", path_, in_quotes(name_), value);
      shape.push_back(static_cast<int64_t>(value));
      return true;
    }
    if (place_ != Place::kOffsets) fail("a number");
    if (offsets_ == 2) fail("a list of more than two numbers");
    (offsets_ == 0 ? entries.back().begin : entries.back().end) = value;
    ++offsets_;
    return true;
  }

  bool number_integer(int64_t value) override { fail(fmt::format("{}", value)); }
  bool number_float(double, const std::string& text) override { fail(text); }
  bool null() override { fail("null"); }
  bool boolean(bool value) override { fail(value ? "true" : "false"); }
  bool binary(json::binary_t&) override { fail("binary data"); }

  bool parse_error(size_t position, const std::string& last, const json::exception&) override {
    refuse("{}: the header is not JSON: byte {} of the file, at {}", path_, position + kLengthBytes,
           in_quotes(last));
  }

 private:
  enum class Place { kStart, kHeader, kMetadata, kTensor, kShape, kOffsets, kEnd };

  bool enter(Place place) {
    place_ = place;
    return true;
  }

  [[noreturn]] void fail(const std::string& found) const {
    switch (place_) {
      case Place::kStart:
        refuse("{}: the header is {}, not an object", path_, found);
      case Place::kMetadata:
        refuse("{}: metadata {} is {}; metadata holds texts only", path_, in_quotes(field_), found);
      case Place::kShape:
        refuse("{}: tensor {}: shape holds {}, not a whole number", path_, in_quotes(name_), found);
      case Place::kOffsets:
        refuse("{}: tensor {}: data_offsets holds {}, not two whole numbers", path_, in_quotes(name_), found);
      case Place::kTensor:
        refuse("{}: tensor {}: {} is {}", path_, in_quotes(name_), field_, found);
      default:
        refuse("{}: {} is {}, not an object", path_, in_quotes(name_), found);
    }
  }

  const std::string& path_;
  Place place_ = Place::kStart;
  std::string name_, field_;
  std::set<std::string> names_, fields_;
  int offsets_ = 0;
};

/// Refuses by what the file seems to be, where it is recognised.
void refuse_foreign(std::string_view bytes, const std::string& path) {
  const std::optional<Sniffed> seen = sniff(bytes.substr(0, kSniffBytes), bytes.size());
  if (!seen || seen->kind == FileKind::kSafetensors || seen->kind == FileKind::kBinary) return;
  refuse("{}: is no safetensors file, it looks like {}: {}", path, seen->name, seen->advice);
}

std::string_view find_header(std::string_view bytes, const std::string& path) {
  if (bytes.empty()) refuse("{}: is empty, a safetensors file is needed", path);
  uint64_t length = 0;
  const bool has_length = bytes.size() >= kLengthBytes;
  if (has_length) std::memcpy(&length, bytes.data(), kLengthBytes);
  const bool plausible =
      has_length && length >= 2 && length <= bytes.size() - kLengthBytes && bytes[kLengthBytes] == '{';
  if (!plausible) refuse_foreign(bytes, path);
  if (!has_length) {
    refuse("{}: has {} bytes, the length of a safetensors header alone takes 8 (a cut download?)", path,
           bytes.size());
  }
  if (length > kLargestHeader) {
    refuse("{}: claims a header of {} bytes, the most is {}: this is no safetensors file, or a broken one",
           path, length, kLargestHeader);
  }
  if (length > bytes.size() - kLengthBytes) {
    refuse("{}: claims a header of {} bytes, but only {} follow: the file is cut (a broken download?)", path,
           length, bytes.size() - kLengthBytes);
  }
  if (length < 2) refuse("{}: has a header of {} bytes, at least 2 are needed", path, length);
  return bytes.substr(kLengthBytes, length);
}

void check_layout(std::vector<Entry>& entries, uint64_t data_bytes, const std::string& path) {
  for (const Entry& entry : entries) {
    const std::string name = in_quotes(entry.tensor.name);
    int64_t count = 0;
    if (!elements_of(entry.tensor.shape, entry.tensor.type, count)) {
      refuse("{}: tensor {}: {} is larger than any file", path, name,
             describe(entry.tensor.type, entry.tensor.shape));
    }
    if (entry.end < entry.begin || entry.end > data_bytes) {
      refuse("{}: tensor {} lies at bytes {} to {} of the data, which has {} bytes (a cut download?)", path,
             name, entry.begin, entry.end, data_bytes);
    }
    const auto needed = static_cast<uint64_t>(count * size_of(entry.tensor.type));
    if (entry.end - entry.begin != needed) {
      refuse("{}: tensor {}: {} takes {} bytes, its data_offsets give {}", path, name,
             describe(entry.tensor.type, entry.tensor.shape), needed, entry.end - entry.begin);
    }
  }
  std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) {
    return std::tie(a.begin, a.end, a.tensor.name) < std::tie(b.begin, b.end, b.tensor.name);
  });
  uint64_t at = 0;
  for (size_t i = 0; i < entries.size(); ++i) {
    const Entry& entry = entries[i];
    if (entry.begin < at) {
      refuse("{}: tensors {} and {} overlap", path, in_quotes(entries[i - 1].tensor.name),
             in_quotes(entry.tensor.name));
    }
    if (entry.begin > at) refuse("{}: bytes {} to {} of the data belong to no tensor", path, at, entry.begin);
    at = entry.end;
  }
  if (at != data_bytes) refuse("{}: bytes {} to {} of the data belong to no tensor", path, at, data_bytes);
}
}  // namespace

SafetensorsView parse_safetensors(std::string_view bytes, const std::string& path) {
  const std::string_view header = find_header(bytes, path);
  if (header[0] != '{') refuse("{}: the header does not begin with {{: this is no safetensors file", path);
  if (const size_t zero = header.find('\0'); zero != header.npos)  // for the parser, the end
    refuse("{}: the header is not JSON: byte {} of the file is zero", path, zero + kLengthBytes);
  HeaderReader reader(path);
  json::sax_parse(header.begin(), header.end(), &reader);
  const std::string_view data = bytes.substr(kLengthBytes + header.size());
  check_layout(reader.entries, data.size(), path);
  SafetensorsView view;
  view.metadata = std::move(reader.metadata);
  view.tensors.reserve(reader.entries.size());
  for (Entry& entry : reader.entries) {
    entry.tensor.bytes = data.substr(entry.begin, entry.end - entry.begin);
    view.tensors.push_back(std::move(entry.tensor));
  }
  return view;
}

SafetensorsFile::SafetensorsFile(MappedFile file)
    : file_(std::move(file)), view_(parse_safetensors(file_.bytes(), file_.path())) {}

const StoredTensor* SafetensorsFile::find(std::string_view name) const {
  for (const StoredTensor& tensor : view_.tensors) {
    if (tensor.name == name) return &tensor;
  }
  return nullptr;
}

namespace {
std::string json_text(const std::string& text) {
  try {
    return json(text).dump();
  } catch (const json::type_error&) {
    refuse("name {} can't be stored: it is not UTF-8", in_quotes(text));
  }
}

std::string header_of(const std::vector<TensorSpec>& tensors, Metadata metadata) {
  metadata.emplace("format", "pt");  // the reference library's reader for PyTorch asks for it
  std::string header = "{\"__metadata__\":{";
  const char* comma = "";
  for (const auto& [key, value] : metadata) {
    header += fmt::format("{}{}:{}", comma, json_text(key), json_text(value));
    comma = ",";
  }
  header += "}";
  int64_t at = 0;
  for (const TensorSpec& tensor : tensors) {
    int64_t count = 0;
    [[maybe_unused]] const bool fits = elements_of(tensor.shape, tensor.type, count);
    assert(fits);
    const int64_t end = at + count * size_of(tensor.type);
    header += fmt::format(",{}:{{\"dtype\":\"{}\",\"shape\":{},\"data_offsets\":[{},{}]}}",
                          json_text(tensor.name), name_of(tensor.type), json(tensor.shape).dump(), at, end);
    at = end;
  }
  header += "}";
  header.resize((header.size() + 7) / 8 * 8, ' ');  // so that the data begins at a multiple of 8
  return header;
}
}  // namespace

SafetensorsWriter::SafetensorsWriter(FileWriter& file, std::vector<TensorSpec> tensors,
                                     const Metadata& metadata)
    : file_(file), tensors_(std::move(tensors)) {
  std::sort(tensors_.begin(), tensors_.end(), [](const TensorSpec& a, const TensorSpec& b) {
    return a.type != b.type ? a.type > b.type : a.name < b.name;
  });
  std::set<std::string_view> names = {kMetadataName};
  for (const TensorSpec& tensor : tensors_) {
    if (!names.insert(tensor.name).second)
      refuse("tensor {} can't be stored: the name is taken", in_quotes(tensor.name));
    int64_t count = 0;
    if (!elements_of(tensor.shape, tensor.type, count))
      refuse("tensor {} is too large", in_quotes(tensor.name));
    left_ += static_cast<uint64_t>(count * size_of(tensor.type));
  }
  const std::string header = header_of(tensors_, metadata);
  const uint64_t length = header.size();
  std::string start(kLengthBytes, '\0');
  std::memcpy(start.data(), &length, kLengthBytes);
  file_.write(start + header);
}

void SafetensorsWriter::write(std::string_view bytes) {
  assert(bytes.size() <= left_);
  file_.write(bytes);
  left_ -= bytes.size();
}

void SafetensorsWriter::finish() {
  assert(left_ == 0);
}

void write_safetensors(FileWriter& file, std::span<const StoredTensor> tensors, const Metadata& metadata) {
  std::vector<TensorSpec> specs;
  std::map<std::string_view, std::string_view> bytes;
  for (const StoredTensor& tensor : tensors) {
    specs.push_back({tensor.name, tensor.type, tensor.shape});
    bytes[tensor.name] = tensor.bytes;
  }
  SafetensorsWriter writer(file, std::move(specs), metadata);
  for (const TensorSpec& spec : writer.order()) {
    interrupt::check();
    writer.write(bytes.at(spec.name));
  }
  writer.finish();
}

void write_safetensors(const std::string& path, std::span<const StoredTensor> tensors,
                       const Metadata& metadata) {
  write_file_atomically(path, [&](FileWriter& file) { write_safetensors(file, tensors, metadata); });
}

}  // namespace tril
