#include "tril/formats/npz.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <set>
#include <utility>

#include "tril/base/error.h"
#include "tril/base/interrupt.h"
#include "tril/base/number.h"
#include "tril/base/quote.h"
#include "tril/base/sniff.h"
#include "tril/formats/zip.h"

namespace tril {
namespace {
constexpr std::string_view kMagic = "\x93NUMPY";
constexpr size_t kMostDimensions = 8;

/// NumPy's name of each type that both have; a type of one byte has no order of bytes.
constexpr std::array<std::pair<std::string_view, StoredType>, 12> kTypes = {{{"<f8", StoredType::kF64},
                                                                             {"<f4", StoredType::kF32},
                                                                             {"<f2", StoredType::kF16},
                                                                             {"<i8", StoredType::kI64},
                                                                             {"<i4", StoredType::kI32},
                                                                             {"<i2", StoredType::kI16},
                                                                             {"|i1", StoredType::kI8},
                                                                             {"<u8", StoredType::kU64},
                                                                             {"<u4", StoredType::kU32},
                                                                             {"<u2", StoredType::kU16},
                                                                             {"|u1", StoredType::kU8},
                                                                             {"|b1", StoredType::kBool}}};

struct Header {
  StoredType type = StoredType::kF32;
  bool fortran = false;
  std::vector<int64_t> shape;
};

/// Reads the header's text, a Python dictionary: {'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }.
class HeaderParser {
 public:
  HeaderParser(std::string_view text, const std::string& where) : text_(text), where_(where) {}

  Header parse() {
    Header header;
    std::set<std::string> keys;
    take('{');
    while (!is('}')) {
      const std::string key = quoted_text();
      if (!keys.insert(key).second) refuse("{}: key {} comes twice in its header", where_, in_quotes(key));
      take(':');
      if (key == "descr") {
        header.type = type();
      } else if (key == "fortran_order") {
        header.fortran = truth();
      } else if (key == "shape") {
        header.shape = shape();
      } else {
        refuse("{}: unknown key {} in its header", where_, in_quotes(key));
      }
      if (!is(',')) break;
      take(',');
    }
    take('}');
    skip();
    if (!text_.empty()) fail();
    if (keys.size() != 3) refuse("{}: its header lacks descr, fortran_order or shape", where_);
    return header;
  }

 private:
  [[noreturn]] void fail() {
    refuse("{}: its header can't be read at {}", where_, in_quotes(text_.substr(0, 20)));
  }
  void skip() {
    while (!text_.empty() && (text_[0] == ' ' || text_[0] == '\n')) text_.remove_prefix(1);
  }
  bool is(char c) {
    skip();
    return !text_.empty() && text_[0] == c;
  }
  void take(char c) {
    if (!is(c)) fail();
    text_.remove_prefix(1);
  }

  std::string quoted_text() {
    const char quote = is('"') ? '"' : '\'';
    take(quote);
    const size_t end = text_.find(quote);
    if (end == text_.npos) fail();
    const std::string value(text_.substr(0, end));
    text_.remove_prefix(end + 1);
    return value;
  }

  StoredType type() {
    if (is('[')) refuse("{}: is of a structured type; tril reads plain numbers", where_);
    const std::string name = quoted_text();
    for (const auto& [numpy, type] : kTypes) {
      if (name == numpy || (size_of(type) > 1 && name == fmt::format("={}", numpy.substr(1)))) return type;
    }
    if (name.starts_with(">"))
      refuse("{}: is of type {}, big-endian; save it as little-endian", where_, in_quotes(name));
    if (name.starts_with("|O")) refuse("{}: holds Python objects, which tril never unpickles", where_);
    refuse("{}: is of type {}, which tril doesn't read", where_, in_quotes(name));
  }

  bool truth() {
    skip();
    for (const auto& [word, value] : {std::pair<std::string_view, bool>{"False", false}, {"True", true}}) {
      if (!text_.starts_with(word)) continue;
      text_.remove_prefix(word.size());
      return value;
    }
    fail();
  }

  std::vector<int64_t> shape() {
    std::vector<int64_t> sizes;
    take('(');
    while (!is(')')) {
      const size_t digits = std::min(text_.find_first_not_of("0123456789"), text_.size());
      const std::optional<int64_t> size = parse_integer(text_.substr(0, digits));
      if (!size || digits == 0) fail();
      if (sizes.size() == kMostDimensions) refuse("{}: has more than {} dimensions", where_, kMostDimensions);
      sizes.push_back(*size);
      text_.remove_prefix(digits);
      if (!is(',')) break;
      take(',');
    }
    take(')');
    return sizes;
  }

  std::string_view text_;
  const std::string& where_;
};

/// From Fortran's order (first index fastest) to C's (last index fastest).
std::string reordered(std::string_view bytes, const Header& header) {
  const auto size = static_cast<size_t>(size_of(header.type));
  const size_t rank = header.shape.size();
  std::vector<size_t> index(rank, 0), stride(rank, size);
  for (size_t i = 1; i < rank; ++i) stride[i] = stride[i - 1] * static_cast<size_t>(header.shape[i - 1]);
  std::string out;
  out.reserve(bytes.size());
  for (size_t count = bytes.size() / size; count > 0; --count) {
    size_t at = 0;
    for (size_t i = 0; i < rank; ++i) at += index[i] * stride[i];
    out.append(bytes.substr(at, size));
    for (size_t i = rank; i-- > 0;) {
      if (++index[i] < static_cast<size_t>(header.shape[i])) break;
      index[i] = 0;
    }
  }
  return out;
}

/// Parses a .npy file's bytes; a Fortran-ordered array is put into `room`.
StoredTensor parse_npy(std::string_view bytes, std::string name, std::deque<std::string>& room,
                       const std::string& where) {
  if (!bytes.starts_with(kMagic) || bytes.size() < 10) refuse("{}: does not begin as a .npy file", where);
  const int version = bytes[6];
  if (version < 1 || version > 3) refuse("{}: is of .npy version {}; 1, 2 and 3 are known", where, version);
  const size_t length_bytes = version == 1 ? 2 : 4, start = 8 + length_bytes;
  if (bytes.size() < start) refuse("{}: its header is cut", where);
  uint32_t length = 0;
  std::memcpy(&length, bytes.data() + 8, length_bytes);
  if (length > bytes.size() - start) {
    refuse("{}: claims a header of {} bytes, {} follow", where, length, bytes.size() - start);
  }
  const Header header = HeaderParser(bytes.substr(start, length), where).parse();
  const std::string_view data = bytes.substr(start + length);
  int64_t count = 0;
  if (!elements_of(header.shape, header.type, count)) refuse("{}: its shape is larger than any file", where);
  const auto needed = static_cast<uint64_t>(count * size_of(header.type));
  if (needed != data.size()) {
    refuse("{}: {} needs {} bytes, has {}", where, describe(header.type, header.shape), needed, data.size());
  }
  StoredTensor tensor{std::move(name), header.type, header.shape, data};
  if (header.fortran && header.shape.size() > 1) tensor.bytes = room.emplace_back(reordered(data, header));
  return tensor;
}
}  // namespace

NpzFile::NpzFile(const std::string& path) : file_(path) {
  const std::string_view bytes = file_.bytes();
  if (bytes.empty()) refuse("{}: is empty, an .npz file is needed", path);
  if (bytes.starts_with(kMagic)) {
    tensors_.push_back(parse_npy(bytes, "array", unpacked_, path));
    return;
  }
  if (!bytes.starts_with("PK")) {
    const auto seen = sniff(bytes.substr(0, kSniffBytes), bytes.size());
    refuse("{}: is no .npz file{}", path,
           seen && seen->kind != FileKind::kBinary
               ? fmt::format(", it looks like {}: {}", seen->name, seen->advice)
               : "");
  }
  std::set<std::string> names;
  for (const ZipMember& member : read_zip(bytes, path)) {
    const std::string where = fmt::format("{}: member {}", path, in_quotes(member.name));
    if (!member.name.ends_with(".npy")) refuse("{}: is no .npy file; tril never runs a pickle", where);
    if (!names.insert(member.name).second) refuse("{}: comes twice", where);
    std::string& room = unpacked_.emplace_back();
    const std::string_view content = unpack(member, room, path);
    tensors_.push_back(parse_npy(content, member.name.substr(0, member.name.size() - 4), unpacked_, where));
  }
}

void write_npz(const std::string& path, std::span<const StoredTensor> tensors) {
  write_file_atomically(path, [&](FileWriter& file) {
    ZipWriter zip(file);
    std::set<std::string_view> names;
    for (const StoredTensor& tensor : tensors) {
      interrupt::check();
      if (!names.insert(tensor.name).second)
        refuse("{}: two tensors are called {}", path, in_quotes(tensor.name));
      std::string_view numpy;
      for (const auto& [name, type] : kTypes) {
        if (type == tensor.type) numpy = name;
      }
      if (numpy.empty()) {
        refuse("{}: tensor {} is {}, which NumPy has not; convert it to F32", path, in_quotes(tensor.name),
               name_of(tensor.type));
      }
      std::string header = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}{}), }}", numpy,
                                       fmt::join(tensor.shape, ", "), tensor.shape.size() == 1 ? "," : "");
      header.append(63 - (kMagic.size() + 4 + header.size()) % 64, ' ')
          .push_back('\n');  // data at a multiple of 64
      const auto length = static_cast<uint16_t>(header.size());
      const std::string start =
          fmt::format("{}\x01{}", kMagic, '\0') + std::string(reinterpret_cast<const char*>(&length), 2);
      zip.add(tensor.name + ".npy", {start, header, tensor.bytes});
    }
    zip.finish();
  });
}

}  // namespace tril
