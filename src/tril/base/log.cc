#include "tril/base/log.h"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>

namespace tril::log {
namespace {
bool g_quiet = false;

void write_line(std::string_view prefix, std::string_view text) {
  std::string line;
  line.reserve(prefix.size() + text.size() + 1);
  line.append(prefix).append(text).push_back('\n');
  std::fwrite(line.data(), 1, line.size(), stderr);
}
}  // namespace

void set_quiet(bool quiet) {
  g_quiet = quiet;
}
bool quiet() {
  return g_quiet;
}

void note_line(std::string_view text) {
  if (!g_quiet) write_line("", text);
}
void warning_line(std::string_view text) {
  write_line("warning: ", text);
}

bool fancy(int fd) {
  if (isatty(fd) == 0 || std::getenv("NO_COLOR") != nullptr) return false;
  const char* term = std::getenv("TERM");
  return term != nullptr && std::string_view(term) != "dumb";
}

}  // namespace tril::log
