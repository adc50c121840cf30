// Runs the built program (TRIL_PROGRAM) in a test: words in, output, errors and exit code out.
//   const ProgramResult r = run_program({"train", "one-head-smoke", "--steps", "3"}, {.folder =
//   temp.path()}); Program program({"train", …}); program.kill(SIGINT); program.wait();
// What it leaves out: a terminal; the program sees pipes.
#pragma once
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "tril/base/folder_testing.h"

extern char** environ;

namespace tril {

struct ProgramOptions {
  std::string input = {};                     // standard input
  std::vector<std::string> environment = {};  // "NAME=value", replacing what the test itself runs under
  std::string folder = {};                    // where it runs; "" = here
  std::string program = TRIL_PROGRAM;
  std::string output_file = {};  // standard output goes there instead of to `out`
};

struct ProgramResult {
  int exit_code = -1;  // -1 where a signal ended it
  int signal = 0;
  std::string out, err;
};

/// A running program. Reads both of its outputs, so that it never waits for a full pipe.
class Program {
 public:
  explicit Program(const std::vector<std::string>& words, const ProgramOptions& options = {})
      : input_(options.input) {
    std::array<std::array<int, 2>, 3> pipes{};
    for (auto& pair : pipes)
      if (pipe2(pair.data(), O_CLOEXEC) != 0) throw std::runtime_error("pipe");
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, pipes[0][0], 0);
    posix_spawn_file_actions_adddup2(&actions, pipes[1][1], 1);
    posix_spawn_file_actions_adddup2(&actions, pipes[2][1], 2);
    if (!options.output_file.empty())
      posix_spawn_file_actions_addopen(&actions, 1, options.output_file.c_str(), O_WRONLY | O_CREAT, 0644);
    if (!options.folder.empty()) posix_spawn_file_actions_addchdir_np(&actions, options.folder.c_str());
    std::vector<char*> arguments = {const_cast<char*>(options.program.c_str())};
    for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
    arguments.push_back(nullptr);
    std::vector<char*> variables = environment(options.environment);
    const int fault =
        posix_spawn(&pid_, options.program.c_str(), &actions, nullptr, arguments.data(), variables.data());
    posix_spawn_file_actions_destroy(&actions);
    close(pipes[0][0]);
    close(pipes[1][1]);
    close(pipes[2][1]);
    in_ = pipes[0][1];
    outputs_ = {pipes[1][0], pipes[2][0]};
    if (fault != 0) throw std::runtime_error("cannot start " + options.program);
  }
  ~Program() {
    if (pid_ > 0) {
      ::kill(pid_, SIGKILL);
      wait();
    }
  }
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  pid_t pid() const { return pid_; }
  void kill(int signal) const { ::kill(pid_, signal); }

  /// Closes our end of its standard output, as `tril … | head -1` does when head has gone.
  void close_output() { close_end(outputs_[0]); }

  /// Feeds the input, reads until both outputs end, and waits for the exit.
  ProgramResult wait() {
    ProgramResult result;
    signal(SIGPIPE, SIG_IGN);  // it may end before it has read all
    size_t fed = 0;
    while (outputs_[0] >= 0 || outputs_[1] >= 0) {
      if (fed == input_.size()) close_end(in_);
      std::array<pollfd, 3> ends = {{{outputs_[0], POLLIN, 0}, {outputs_[1], POLLIN, 0}, {in_, POLLOUT, 0}}};
      if (poll(ends.data(), 3, -1) < 0) continue;
      for (size_t i = 0; i < 2; ++i)
        if (ends[i].revents != 0) read_some(outputs_[i], i == 0 ? result.out : result.err);
      if (ends[2].revents != 0) {
        const ssize_t n = write(in_, input_.data() + fed, std::min<size_t>(input_.size() - fed, 4096));
        fed = n > 0 ? fed + static_cast<size_t>(n) : input_.size();
      }
    }
    close_end(in_);
    int status = 0;
    while (waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
    }
    pid_ = -1;
    if (WIFEXITED(status)) result.exit_code = WEXITSTATUS(status);
    if (WIFSIGNALED(status)) result.signal = WTERMSIG(status);
    return result;
  }

 private:
  static void close_end(int& end) {
    if (end >= 0) close(end);
    end = -1;
  }
  static void read_some(int& end, std::string& text) {
    std::array<char, 65536> buffer{};
    const ssize_t n = read(end, buffer.data(), buffer.size());
    if (n > 0) text.append(buffer.data(), static_cast<size_t>(n));
    if (n == 0 || (n < 0 && errno != EINTR)) close_end(end);
  }
  std::vector<char*> environment(const std::vector<std::string>& given) {
    kept_ = given;
    for (char** variable = environ; *variable != nullptr; ++variable) {
      const std::string text = *variable;
      const std::string name = text.substr(0, text.find('=') + 1);
      bool replaced = false;
      for (const std::string& each : given) replaced = replaced || each.rfind(name, 0) == 0;
      if (!replaced) kept_.push_back(text);
    }
    std::vector<char*> pointers;
    for (std::string& each : kept_) pointers.push_back(each.data());
    pointers.push_back(nullptr);
    return pointers;
  }

  std::string input_;
  std::vector<std::string> kept_;
  pid_t pid_ = -1;
  int in_ = -1;
  std::array<int, 2> outputs_ = {-1, -1};
};

inline ProgramResult run_program(const std::vector<std::string>& words, const ProgramOptions& options = {}) {
  return Program(words, options).wait();
}

/// The optional data folder (../shared, or TRIL_SHARED); "" where there is none: GTEST_SKIP() << "no shared
/// data".
inline std::string shared_folder() {
  const char* given = std::getenv("TRIL_SHARED");
  const std::string folder = given != nullptr ? given : std::string(TRIL_SOURCE_DIR) + "/../shared";
  return std::filesystem::exists(folder + "/fixtures") ? folder : "";
}

}  // namespace tril
