#include "tril/base/progress.h"

#include <fmt/core.h>
#include <pthread.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <exception>
#include <thread>

#include "tril/base/clock.h"
#include "tril/base/interrupt.h"
#include "tril/base/log.h"
#include "tril/base/table.h"

namespace tril {
namespace {
constexpr double kDrawEvery = 0.1, kPrintEvery = 5, kRateOver = 10;  // seconds

int columns() {
  winsize size{};
  return ::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

std::string scaled(double value, std::string_view gap, std::string_view unit) {
  static constexpr std::string_view kPrefix[] = {"", "k", "M", "G", "T"};
  size_t power = 0;
  // 999.5 would print as 1000, so it moves up already.
  while (std::fabs(value) >= 999.5 && power + 1 < std::size(kPrefix)) {
    value /= 1000;
    ++power;
  }
  if (power > 0 && std::fabs(value) < 99.95)
    return fmt::format("{:.1f}{}{}{}", value, gap, kPrefix[power], unit);
  return fmt::format("{:.0f}{}{}{}", value, gap, kPrefix[power], unit);
}

/// The text's first `width` columns; code points count one column each.
std::string cut(const std::string& text, int width) {
  int seen = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    const bool first_byte = (static_cast<unsigned char>(text[i]) & 0xC0) != 0x80;
    if (first_byte && seen++ == std::max(width, 0)) return text.substr(0, i);
  }
  return text;
}
}  // namespace

std::string short_count(double value) {
  return scaled(value, "", "");
}
std::string short_bytes(double value) {
  return scaled(value, " ", "B");
}

std::string short_time(double seconds) {
  const auto whole = static_cast<int64_t>(std::ceil(std::clamp(seconds, 0.0, 3.6e8)));
  if (whole < 60) return fmt::format("{} s", whole);
  if (whole < 3600) return fmt::format("{}:{:02}", whole / 60, whole % 60);
  return fmt::format("{}:{:02}:{:02}", whole / 3600, whole / 60 % 60, whole % 60);
}

ProgressOptions::ProgressOptions() : live(log::fancy(STDERR_FILENO)), width(columns()), now(steady_seconds) {}

Progress::Progress(std::string_view task, int64_t total, ProgressOptions options)
    : task_(task), total_(total), options_(std::move(options)), drawn_(options_.now()) {
  recent_.push_back({drawn_, options_.start, 0});
  if (options_.live) drawn_ -= kDrawEvery;  // the first update is drawn at once
  if (!options_.watched || log::quiet()) return;
  // Signals are for the threads that work.
  sigset_t all, before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  try {
    watcher_ = std::thread([this] { watch(); });
  } catch (const std::exception&) {  // the system gives no more threads: the work's own calls must do
  }
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

Progress::~Progress() {
  finish();
}

std::string Progress::compose() const {
  const Sample &first = recent_.front(), &last = recent_.back();
  const double seconds = last.time - first.time;
  std::string line = task_;
  if (options_.bytes) {
    line += ' ' + short_bytes(static_cast<double>(last.done));
    if (total_ > 0) line += " of " + short_bytes(static_cast<double>(total_));
  } else {
    line += ' ' + with_commas(last.done);
    if (total_ > 0) line += '/' + with_commas(total_);
  }
  if (total_ > 0) {
    const double share = std::clamp(static_cast<double>(last.done) / static_cast<double>(total_), 0.0, 1.0);
    line += fmt::format(", {}%", static_cast<int>(100 * share));
  }
  if (!status_.empty()) line += fmt::format(", {}", status_);
  const double units = last.units - first.units, steps = static_cast<double>(last.done - first.done);
  if (seconds > 0 && !unit_.empty()) line += fmt::format(", {} {}/s", short_count(units / seconds), unit_);
  if (seconds > 0 && options_.bytes) line += fmt::format(", {}/s", short_bytes(steps / seconds));
  if (seconds > 0 && steps > 0 && total_ > last.done)
    line += fmt::format(", {} left", short_time(static_cast<double>(total_ - last.done) * seconds / steps));
  return line;
}

void Progress::watch() {
  std::unique_lock lock(mutex_);
  while (!ended_.wait_for(lock, std::chrono::seconds(1), [this] { return finished_; })) {
    lock.unlock();
    tell_silence();
    lock.lock();
  }
}

void Progress::phase(std::string_view what) {
  const std::lock_guard lock(mutex_);
  phase_ = what;
}

void Progress::tell_silence() {
  const std::lock_guard lock(mutex_);
  const double time = options_.now();
  if (finished_ || log::quiet() || time - std::max(drawn_, recent_.back().time) < kPrintEvery) return;
  drawn_ = time;
  const std::string what = !phase_.empty()  ? phase_
                           : options_.bytes ? "at work"
                                            : "step " + with_commas(recent_.back().done + 1);
  show(fmt::format("{}; {} for {}", compose(), what, short_time(time - recent_.back().time)));
}

void Progress::show(const std::string& line) {
  if (options_.live) {
    log::live_line(cut(line, options_.width - 1));
  } else {
    log::note_line(line);
  }
  shown_ = true;
}

void Progress::update(int64_t done, std::string_view status, double units, std::string_view unit) {
  interrupt::check();
  if (log::quiet() || finished_) return;
  const std::lock_guard lock(mutex_);
  const double time = options_.now();
  phase_.clear();
  // Of updates within a tenth of a second only the newest stays, so that the window holds a hundred at most.
  if (recent_.size() > 1 && time - recent_[recent_.size() - 2].time < kDrawEvery) recent_.pop_back();
  recent_.push_back({time, done, units});
  while (recent_.size() > 2 && time - recent_[1].time >= kRateOver) recent_.pop_front();
  status_ = status;
  unit_ = unit;
  if (time - drawn_ < (options_.live ? kDrawEvery : kPrintEvery)) return;
  drawn_ = time;
  show(compose());
}

void Progress::finish() {
  if (finished_) return;
  {
    const std::lock_guard lock(mutex_);
    finished_ = true;
  }
  ended_.notify_all();
  if (watcher_.joinable()) watcher_.join();
  if (!shown_) return;
  if (options_.live) {
    log::live_line("");
  } else if (recent_.back().time > drawn_) {
    show(compose());
  }
}

}  // namespace tril
