// Running other programs, by the shell.
#include "tril/cli/child.h"

#include <sys/wait.h>

#include <cstdio>

#include "tril/base/error.h"
#include "tril/base/interrupt.h"

namespace tril::cli {
namespace {

// A word of the shell, whatever characters it has.
std::string shell_word(const std::string& text) {
  std::string word = "'";
  for (const char c : text) word += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return word + "'";
}

}  // namespace

ChildResult run_child(std::span<const std::string> words, bool quiet) {
  std::string command;
  for (const std::string& word : words) command += (command.empty() ? "" : " ") + shell_word(word);
  if (quiet) command += " 2>/dev/null";
  std::FILE* pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) refuse("{}: can't be started", words.front());
  ChildResult result;
  char buffer[4096];
  for (size_t n = 0; (n = std::fread(buffer, 1, sizeof buffer, pipe)) > 0;) result.out.append(buffer, n);
  const int status = pclose(pipe);
  interrupt::check();  // it has had the signal too
  result.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 1;
  return result;
}

std::string last_line(std::string text) {
  while (text.ends_with('\n')) text.pop_back();
  return text.substr(text.rfind('\n') + 1);
}

std::string source_folder() {
  return TRIL_SOURCES;
}

}  // namespace tril::cli
