// Running other programs, by the shell or beside this one.
#include "tril/cli/child.h"

#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <vector>

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

Partner::Partner(std::span<const std::string> words) {
  int ends[2];
  errors_ = std::tmpfile();
  if (errors_ == nullptr || socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
    refuse("{}: can't be started", words.front());
  std::vector<char*> arguments;
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  process_ = fork();
  if (process_ == 0) {  // only calls that are safe after a fork beside threads
    dup2(ends[1], STDIN_FILENO), dup2(ends[1], STDOUT_FILENO), dup2(fileno(errors_), STDERR_FILENO);
    execvp(arguments[0], arguments.data());
    _exit(127);
  }
  close(ends[1]);
  channel_ = ends[0];
  if (process_ < 0) {
    close(channel_), std::fclose(errors_);
    refuse("{}: can't be started", words.front());
  }
}

Partner::~Partner() {
  kill(process_, SIGTERM);
  close(channel_);
  waitpid(process_, nullptr, 0);
  std::fclose(errors_);
}

std::optional<std::string> Partner::ask() {
  if (send(channel_, "\n", 1, MSG_NOSIGNAL) != 1) return std::nullopt;
  for (;;) {
    if (const size_t end = read_.find('\n'); end != std::string::npos) {
      std::string line = read_.substr(0, end);
      read_.erase(0, end + 1);
      return line;
    }
    char buffer[4096];
    const ssize_t n = read(channel_, buffer, sizeof buffer);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return std::nullopt;
    read_.append(buffer, static_cast<size_t>(n));
  }
}

std::string Partner::complaint() const {
  std::string text;
  std::rewind(errors_);
  char buffer[4096];
  for (size_t n = 0; (n = std::fread(buffer, 1, sizeof buffer, errors_)) > 0;) text.append(buffer, n);
  return last_line(std::move(text));
}

std::string last_line(std::string text) {
  while (text.ends_with('\n')) text.pop_back();
  return text.substr(text.rfind('\n') + 1);
}

std::string source_folder() {
  return TRIL_SOURCES;
}

}  // namespace tril::cli
