// Progress of a long piece of work, on standard error: a live line on a terminal, a plain line every five
// seconds elsewhere (and where NO_COLOR is set), nothing under --quiet. Where the work is silent for longer,
// a thread of its own says so. What it leaves out: results, which belong to standard output.
//
//   Progress progress("train", total_steps);
//   for (…) progress.update(step, fmt::format("loss {:.3f}", loss), targets_done, "targets");
//   progress.finish();
#pragma once
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

namespace tril {

struct ProgressOptions {
  int64_t start = 0;    // what was done before this run began (a resumed one); no time is counted for it
  bool bytes = false;   // the steps are bytes: 3.2 of 21.5 MB
  bool live;            // as the terminal allows, unless set
  int width;            // columns of the live line
  bool watched = true;  // false: silence is told where tell_silence() is called, and nowhere else
  std::function<double()> now;  // seconds on a steady clock
  ProgressOptions();            // what standard error and the system clock give
};

/// Thread safety: one thread calls; notes and warnings from other threads don't disturb the line.
/// Invariants: mutex_ guards all that update() and the watching thread share; that thread takes no signal.
class Progress {
 public:
  /// `total` ≤ 0: how much there is to do isn't known.
  Progress(std::string_view task, int64_t total, ProgressOptions options = {});
  ~Progress();  // as finish()
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// `done` steps of the total are done. `status` stands in the line as it is ("loss 3.210"). `units` counts
  /// what the rate is told in, since the work began, and `unit` names it ("targets"); "" tells no rate. Cheap
  /// enough for every step: it draws at most ten times a second. Throws Interrupted as interrupt::check()
  /// does.
  void update(int64_t done, std::string_view status = {}, double units = 0, std::string_view unit = {});

  /// What is done from here on until the next update, "evaluation": a line that tells of silence names it.
  void phase(std::string_view what);

  /// Shows the line again with how long the last update is ago, "; step 4 for 12 s", where nothing was shown
  /// for five seconds. The watching thread calls it every second.
  void tell_silence();

  /// Erases the live line. Elsewhere prints a last line, if the work was long enough to have printed one.
  void finish();

 private:
  struct Sample {
    double time;
    int64_t done;
    double units;
  };
  std::string compose() const;
  void show(const std::string& line);
  void watch();

  std::string task_;
  int64_t total_;
  ProgressOptions options_;
  std::deque<Sample> recent_;  // first: up to ten seconds ago; last: now
  std::string status_, unit_;
  std::string phase_;
  double drawn_;  // when the line was last shown
  bool shown_ = false, finished_ = false;
  std::mutex mutex_;
  std::condition_variable ended_;
  std::thread watcher_;
};

/// "512", "3.2k", "210k", "1.4M", "2.0G": three digits at most, thousands by 1,000.
std::string short_count(double value);
/// "512 B", "3.2 kB", "21.5 MB": by 1,000.
std::string short_bytes(double value);
/// "8 s", "2:05", "1:02:03".
std::string short_time(double seconds);

}  // namespace tril
