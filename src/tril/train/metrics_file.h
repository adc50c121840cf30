// metrics.jsonl: one JSON object a line with at least an integer "step"; steps rise. Appended while training,
// cut back when a run goes on from a checkpoint, and held to what that checkpoint says of it. What it leaves
// out: what else a line holds (loop.cc).
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "tril/base/file.h"
#include "tril/base/hash.h"

namespace tril {

/// What a checkpoint keeps of the file as it stood then.
struct MetricsMark {
  int64_t lines = 0;
  std::string sha256;  // of all bytes
};

/// The step of a metrics line, nullopt where it is no such line.
std::optional<int64_t> metrics_step(std::string_view line);

/// The file, open to be written. Invariant: the mark is that of the bytes in the file.
class MetricsFile {
 public:
  /// Opens or creates; a torn last line is cut off. Throws Refusal.
  explicit MetricsFile(const std::string& path);

  void append(std::string_view line);
  void begin_flush() { file_.begin_flush(); }
  void flush() { file_.flush(); }
  MetricsMark mark() const;

  /// Keeps the lines up to `step`, and nothing after the first that is not a metrics line. Warns of all that
  /// is dropped, and where what is kept is not what `expected` says was there, each time with the numbers.
  void cut_back(int64_t step, const std::optional<MetricsMark>& expected);

 private:
  void warn_of_difference(int64_t step, const MetricsMark& expected) const;

  std::string path_;
  LineFile file_;
  Sha256 hash_;
  int64_t lines_ = 0;
};

}  // namespace tril
