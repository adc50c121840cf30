// The clock that durations are taken from: it only goes forward. What it leaves out: the time of day.
#pragma once
#include <chrono>

namespace tril {

/// Seconds since some moment in the past; only differences mean something.
inline double steady_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace tril
