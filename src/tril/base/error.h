// Errors: how tril says no. A user's mistake (a file, a flag, a setting) throws; a mistake of ours is an
// assert, which no input can reach. What it leaves out: printing, which cli/main.cc does in one place.
#pragma once
#include <fmt/core.h>

#include <stdexcept>
#include <string>
#include <utility>

namespace tril {

/// Exit codes of the program (design, section 7).
inline constexpr int kExitDone = 0, kExitCheckFailed = 1, kExitRefused = 2, kExitNonFinite = 3;
inline constexpr int kExitInterrupt = 130, kExitTerminate = 143;

/// Base of every error that tril throws on purpose. what() is one or more whole lines for the user.
class Error : public std::runtime_error {
 public:
  Error(int exit_code, const std::string& text) : std::runtime_error(text), exit_code_(exit_code) {}
  int exit_code() const { return exit_code_; }

 private:
  int exit_code_;
};

/// Bad usage or bad input: exit 2. The text says what is wrong, where, and what to do.
class Refusal : public Error {
 public:
  explicit Refusal(const std::string& text) : Error(kExitRefused, text) {}
};

/// Training met a NaN or an infinity: exit 3.
class NonFinite : public Error {
 public:
  explicit NonFinite(const std::string& text) : Error(kExitNonFinite, text) {}
};

/// Throws Refusal with a formatted text: refuse("{}: {} bytes, needs {}", path, have, need).
template <class... Args>
[[noreturn]] void refuse(fmt::format_string<Args...> format, Args&&... args) {
  throw Refusal(fmt::format(format, std::forward<Args>(args)...));
}

}  // namespace tril
