// Standard output.
#include "tril/cli/output.h"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <nlohmann/json.hpp>
#include <string>

#include "tril/base/error.h"
#include "tril/base/interrupt.h"

namespace tril::cli {
namespace {

[[noreturn]] void refuse_output(int fault) {
  if (fault == EPIPE) throw OutputClosed{};
  interrupt::check();
  refuse("standard output: {}", std::strerror(fault));
}

}  // namespace

void print(std::string_view text) {
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size()) refuse_output(errno);
}

void flush() {
  if (std::fflush(stdout) != 0) refuse_output(errno);
}

void print_json(const nlohmann::ordered_json& document) {
  print(document.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n");
}

// The program itself never sets a locale: this only reads what the user's terminal is said to show.
bool utf8_locale() {
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    const char* value = std::getenv(name);
    if (value == nullptr || *value == '\0') continue;
    std::string lower(value);
    for (char& c : lower) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    return lower.find("utf-8") != std::string::npos || lower.find("utf8") != std::string::npos;
  }
  return false;
}

}  // namespace tril::cli
