#include "tril/data/source.h"

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "tril/base/error.h"
#include "tril/base/hash.h"
#include "tril/base/log.h"
#include "tril/base/sniff.h"
#include "tril/data/read_text.h"
#include "tril/data/tales.h"
#include "tril/text/utf8.h"

namespace tril {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

/// Whether the bytes are a regular file's, so that they can be mapped; a pipe is read.
std::string_view bytes_of(const std::string& path, Source& source) {
  std::error_code error;
  if (fs::is_regular_file(path, error)) return source.maps.emplace_back(path).bytes();
  return source.strings.emplace_back(read_file(path));
}

void count_trouble(std::string_view text, EncodingTrouble& trouble) {
  trouble.nul += std::count(text.begin(), text.end(), '\0');
  for (size_t at = text.find('\r'); at != text.npos; at = text.find('\r', at + 1)) {
    const bool pair = at + 1 < text.size() && text[at + 1] == '\n';
    ++(pair ? trouble.crlf : trouble.lone_cr);
  }
  for (size_t at = text.find("\xEF\xBF\xBD"); at != text.npos; at = text.find("\xEF\xBF\xBD", at + 3)) {
    ++trouble.replacement;
  }
}

/// The text of a file's bytes: checked, its trouble counted, without a byte-order mark.
std::string_view checked_text(const std::string& name, std::string_view bytes, bool any_bytes,
                              Source& source) {
  refuse_unless_text(name, bytes);
  if (const auto seems = sniff(bytes, bytes.size())) {
    source.warnings.push_back(fmt::format("{}: looks like {}; its tags are read as text", name, seems->name));
  }
  if (!any_bytes) {
    require_utf8(bytes, name);
  } else if (const auto bad = first_invalid_utf8(bytes)) {
    ++source.encoding.invalid_utf8;
    source.warnings.push_back(
        fmt::format("{}: byte {}: not valid UTF-8; its bytes are kept as they are", name, *bad));
  }
  if (bytes.substr(0, kByteOrderMark.size()) == kByteOrderMark) {
    bytes.remove_prefix(kByteOrderMark.size());
    ++source.encoding.byte_order_marks;
    source.notes.push_back(fmt::format("{}: the byte-order mark at its start is dropped", name));
  }
  count_trouble(bytes, source.encoding);
  return bytes;
}

void add_file(const std::string& path, bool any_bytes, Source& source) {
  const std::string_view bytes = bytes_of(path, source);
  source.bytes = static_cast<int64_t>(bytes.size());
  source.files = 1;
  source.sha256 = sha256_hex(bytes);
  source.pieces.push_back(checked_text(source.name(), bytes, any_bytes, source));
}

void add_folder(const std::string& path, bool any_bytes, Source& source) {
  std::vector<std::string> names;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(path, error)) {
    std::error_code ignored;  // a link that leads nowhere is named when it is read
    if (entry.path().extension() == ".txt" && !entry.is_directory(ignored))
      names.push_back(entry.path().filename());
  }
  if (error) refuse("{}: can't be read: {}", path, error.message());
  if (names.empty()) refuse("{}: no trainable text: the folder holds no .txt file", path);
  std::sort(names.begin(), names.end());  // by bytes, in every locale
  std::string listing;
  for (const std::string& name : names) {
    const std::string file = (fs::path(path) / name).string();
    const std::string_view bytes = bytes_of(file, source);
    source.bytes += static_cast<int64_t>(bytes.size());
    listing += sha256_hex(bytes) + "  " + name + "\n";
    source.pieces.push_back(checked_text(file, bytes, any_bytes, source));
  }
  source.files = static_cast<int64_t>(names.size());
  source.sha256 = sha256_hex(listing);
}

/// The text field of one record. A line that is no JSON, or whose "text" is missing or no string, is refused.
std::string record_text(const std::string& path, int64_t line_number, std::string_view line) {
  const auto record = nlohmann::json::parse(line, nullptr, false);
  // a zero byte is the parser's end, and the rest of the line would go unread
  if (record.is_discarded() || line.find('\0') != line.npos)
    refuse("{}: line {}: not valid JSON", path, line_number);
  if (!record.is_object() || !record.contains("text") || !record["text"].is_string()) {
    refuse("{}: line {}: the record has no string \"text\"", path, line_number);
  }
  return record["text"].get<std::string>();
}

void add_jsonl(const std::string& path, Source& source) {
  const std::string_view bytes = bytes_of(path, source);
  source.bytes = static_cast<int64_t>(bytes.size());
  source.files = 1;
  source.sha256 = sha256_hex(bytes);
  source.records = true;
  std::string_view rest = checked_text(path, bytes, false, source);
  for (int64_t number = 1; !rest.empty(); ++number) {
    const size_t end = std::min(rest.find('\n'), rest.size());
    const std::string_view line = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    if (line.find_first_not_of(" \t\r") == line.npos) continue;
    source.pieces.push_back(source.strings.emplace_back(record_text(path, number, line)));
  }
}

void add_inline_text(const DataSettings& settings, bool any_bytes, Source& source) {
  constexpr size_t kMost = size_t{1} << 31;
  const size_t size = settings.text.size(),
               repeat = static_cast<size_t>(std::max<int64_t>(settings.repeat, 1));
  if (repeat > kMost / size) {
    refuse("data.repeat: {} times {} bytes are more than 2 GiB of text; write them to a file", repeat, size);
  }
  std::string& text = source.strings.emplace_back();
  text.reserve(size * repeat);
  for (size_t i = 0; i < repeat; ++i) text += settings.text;
  source.bytes = static_cast<int64_t>(text.size());
  source.sha256 = sha256_hex(text);
  source.pieces.push_back(checked_text("data.text", text, any_bytes, source));
}

void add_tales(const DataSettings& settings, Source& source) {
  constexpr int64_t kMost = 4'000'000;  // some 3 GB of text
  const int64_t count = settings.stories > 0 ? settings.stories : kDefaultTales;
  if (count > kMost) refuse("data.stories: {} tales do not fit in memory; at most {}", count, kMost);
  source.records = true;
  std::string all;
  for (std::string& tale : tales(count, static_cast<uint64_t>(settings.seed))) {
    all += tale;
    all += "\n<|endoftext|>\n";
    source.pieces.push_back(source.strings.emplace_back(std::move(tale)));
  }
  source.bytes = static_cast<int64_t>(all.size());
  source.sha256 = sha256_hex(all);
}

bool is_folder(const std::string& path) {
  std::error_code error;  // what is wrong with the path is said when it is opened
  return fs::is_directory(path, error);
}

bool is_jsonl(const std::string& path) {
  const std::string extension = fs::path(path).extension();
  return extension == ".jsonl" || extension == ".ndjson";
}

}  // namespace

std::string Source::name() const {
  if (kind == "tales") return "the tales";
  if (kind == "text") return "data.text";
  return path == "-" ? "standard input" : path;
}

Source open_source(const DataSettings& settings, bool any_bytes) {
  Source source;
  source.path = settings.path;
  if (settings.path.empty() && !settings.text.empty()) {
    source.kind = "text";
    add_inline_text(settings, any_bytes, source);
  } else if (settings.path.empty() || settings.path == "tales") {
    source.kind = source.path = "tales";
    add_tales(settings, source);
  } else if (is_folder(settings.path)) {
    source.kind = "folder";
    add_folder(settings.path, any_bytes, source);
  } else if (is_jsonl(settings.path)) {
    source.kind = "jsonl";
    add_jsonl(settings.path, source);
  } else {
    source.kind = "file";
    add_file(settings.path == "-" ? "/dev/stdin" : settings.path, any_bytes, source);
  }
  return source;
}

std::string read_text(const std::string& path, bool any_bytes) {
  Source source;
  source.kind = "file";
  source.path = path;
  add_file(path == "-" ? "/dev/stdin" : path, any_bytes, source);
  announce(source);
  return std::string(source.pieces.at(0));
}

void announce(const Source& source) {
  for (const std::string& note : source.notes) log::note_line(note);
  for (const std::string& warning : source.warnings) log::warning_line(warning);
}

}  // namespace tril
