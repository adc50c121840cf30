// For tests of what is refused: how a piece of work ends, in this process or in a child.
#pragma once
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <functional>
#include <string>

#include "tril/base/error.h"

namespace tril {

/// The text of body's refusal; "" where it has none.
inline std::string refusal_of(const std::function<void()>& body) {
  try {
    body();
  } catch (const Refusal& refusal) {
    return refusal.what();
  }
  return "";
}

/// Runs body, whose warnings are not the test's; returns the exit status that the program would give.
inline int status_of(const std::function<void()>& body) {
  int status = 0;
  testing::internal::CaptureStderr();
  try {
    body();
  } catch (const Error& error) {
    status = error.exit_code();
  }
  testing::internal::GetCapturedStderr();
  return status;
}

/// Runs body in a child process that ends without destructors; returns its exit status.
inline int in_child(const std::function<void()>& body) {
  const pid_t child = ::fork();
  if (child == 0) {
    std::freopen("/dev/null", "w", stderr);  // its warnings are not this test's
    int status = 0;
    try {
      body();
    } catch (const Error& error) {
      status = error.exit_code();
    }
    ::_exit(status);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

}  // namespace tril
