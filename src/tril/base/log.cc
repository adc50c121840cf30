#include "tril/base/log.h"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <string>

namespace tril::log {
namespace {
constexpr std::string_view kErase = "\r\x1b[K";  // to the line's start, then clear to its end

bool g_quiet = false, g_mute = false;
std::mutex g_mutex;  // guards g_live and keeps lines of several threads whole
std::string g_live;

void write(const std::string& text) {
  if (g_mute) return;
  std::fwrite(text.data(), 1, text.size(), stderr);
  std::fflush(stderr);
}

void write_line(std::string_view prefix, std::string_view text) {
  const std::lock_guard lock(g_mutex);
  std::string line;
  if (!g_live.empty()) line.append(kErase);
  line.append(prefix).append(text).push_back('\n');
  write(line.append(g_live));
}
}  // namespace

void set_quiet(bool quiet) {
  g_quiet = quiet;
}
bool quiet() {
  return g_quiet;
}
void mute() {
  g_mute = g_quiet = true;
}

void note_line(std::string_view text) {
  if (!g_quiet) write_line("", text);
}
void warning_line(std::string_view text) {
  write_line("warning: ", text);
}

void live_line(std::string_view text) {
  const std::lock_guard lock(g_mutex);
  if (text.empty() && g_live.empty()) return;
  g_live = text;
  write(std::string(kErase) + g_live);
}

bool fancy(int fd) {
  if (isatty(fd) == 0 || std::getenv("NO_COLOR") != nullptr) return false;
  const char* term = std::getenv("TERM");
  return term != nullptr && std::string_view(term) != "dumb";
}

}  // namespace tril::log
