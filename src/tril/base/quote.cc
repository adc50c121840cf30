#include "tril/base/quote.h"

#include <fmt/core.h>

namespace tril {

std::string escaped(std::string_view given) {
  std::string text;
  for (const char c : given) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '\n') {
      text += "\\n";
    } else if (c == '\\') {
      text += "\\\\";
    } else if (byte < 0x20 || byte == 0x7f) {
      text += fmt::format("\\x{:02x}", byte);
    } else {
      text.push_back(c);
    }
  }
  return text;
}

std::string in_quotes(std::string_view name) {
  constexpr size_t kShown = 80;
  size_t end = name.size();
  if (end > kShown) {
    end = kShown;
    while (end > 0 && (static_cast<unsigned char>(name[end]) & 0xc0u) == 0x80u) --end;  // inside a character
  }
  const std::string text = escaped(name.substr(0, end));
  return end < name.size() ? fmt::format("'{}...' ({} bytes)", text, name.size()) : fmt::format("'{}'", text);
}

}  // namespace tril
