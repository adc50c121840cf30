// profile: where the time of one step goes. Spans of named work nest on the thread that trains; the other
// threads tell when they helped. It is written as a trace that Perfetto and Chrome open (docs/profile.md).
// What it leaves out: sampling, counters of the processor, and any cost while nothing is profiled but one
// relaxed load.
#pragma once
#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tril {

/// Thread safety: begin() and end() belong to the thread that called start(); helped() may be called by any
/// thread of the pool, each with its own index. Read it after stop().
/// Invariants: spans of one thread nest; a span's own time is its length without the spans directly inside.
class Profile {
 public:
  enum class Kind : uint8_t { phase, forward, backward };  // a part of the step, or an op's two directions

  struct Span {
    int label;  // into labels()
    Kind kind;
    int depth;                // 0: not inside another span
    int64_t start, duration;  // nanoseconds, from start()
    int64_t own;              // without the spans inside
    int64_t bytes;            // taken from the step's memory
  };
  struct Label {
    std::string name, shapes;  // "linear", "x [2, 3] · weight [5, 3]"
  };
  struct Help {
    int64_t start, duration, pieces;
  };

  /// `threads` is how many threads may help: their indices are 0 … threads − 1.
  explicit Profile(int threads);
  ~Profile();
  Profile(const Profile&) = delete;
  Profile& operator=(const Profile&) = delete;

  /// Makes this the process's profile, and ends that. One at a time.
  void start();
  void stop();
  /// Null where nothing is profiled.
  static Profile* active() { return active_.load(std::memory_order_relaxed); }

  int label(std::string_view name, std::string shapes);
  void begin(int label, Kind kind);
  void end(int64_t bytes);
  int64_t now() const;
  void helped(int thread, int64_t since, int64_t pieces);

  const std::vector<Label>& labels() const { return labels_; }
  /// In the order of their ends.
  const std::vector<Span>& spans() const { return spans_; }
  const std::vector<std::vector<Help>>& help() const { return help_; }
  int64_t duration() const { return duration_; }

 private:
  struct Open {
    int label;
    Kind kind;
    int64_t start, inside;
  };
  static std::atomic<Profile*> active_;
  std::vector<Label> labels_;
  std::vector<Span> spans_;
  std::vector<Open> open_;
  std::vector<std::vector<Help>> help_;
  int64_t origin_ = 0, duration_ = 0;
};

/// A phase of the step, from here to the end of the block. Nothing where nothing is profiled.
class ProfilePhase {
 public:
  explicit ProfilePhase(std::string_view name) : profile_(Profile::active()) {
    if (profile_ != nullptr) profile_->begin(profile_->label(name, ""), Profile::Kind::phase);
  }
  ~ProfilePhase() {
    if (profile_ != nullptr) profile_->end(0);
  }
  ProfilePhase(const ProfilePhase&) = delete;
  ProfilePhase& operator=(const ProfilePhase&) = delete;

 private:
  Profile* profile_;
};

/// The trace as JSON in Chrome's format: a complete event ("ph": "X") for each span, in microseconds.
/// `title` names the process in the viewer.
std::string profile_json(const Profile& profile, std::string_view title);

/// What one name cost in all its spans of one kind.
struct ProfileRow {
  std::string name;
  Profile::Kind kind;
  int64_t calls, own, bytes;  // nanoseconds without the spans inside
};
/// The dearest first, at most `count`; phases are left out.
std::vector<ProfileRow> dearest_ops(const Profile& profile, size_t count);
/// The same as lines, with each one's share of the step.
std::string dearest_ops_text(const Profile& profile, size_t count);

}  // namespace tril
