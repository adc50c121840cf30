// A run is a folder: config.toml, tokenizer.json, data.json, metrics.jsonl, checkpoints/, best.json,
// last.json, result.json. This file makes, locks, reads and repairs it; docs/formats/run-folder.md has the
// rules. What it leaves out: what the files mean, but for the two pointers and metrics_file.h.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tril/base/file.h"
#include "tril/base/lock.h"
#include "tril/train/checkpoint.h"
#include "tril/train/metrics_file.h"

namespace tril {

/// Thread safety: none; one owner. Invariant: at every moment, and after a death at any moment, the newest
/// checkpoint folder is whole and metrics.jsonl holds every line up to its step.
class RunFolder {
 public:
  /// Throws Refusal for what create() would refuse, as far as can be seen without writing anything.
  static void require_new(const std::string& path);
  /// Makes the folder for a new run and locks it. It may exist where it is empty or holds only what a run
  /// that died before config.toml left. Throws Refusal where it holds anything else, can't be written or is
  /// in use.
  static RunFolder create(const std::string& path);
  /// The same for root/NAME, or root/NAME-2 and so on: the first that doesn't exist.
  static RunFolder create_default(const std::string& name, const std::string& root = "runs");
  /// Opens a run to go on with it: locks it (taking the lock over from a dead process, with a note) and
  /// removes unfinished files. Throws Refusal where it is no run or in use.
  static RunFolder open(const std::string& path);
  /// Opens a run to read from it, also while another process trains it. Nothing is written.
  static RunFolder view(const std::string& path);

  ~RunFolder();
  RunFolder(RunFolder&&) noexcept;
  RunFolder& operator=(RunFolder&&) = delete;

  const std::string& path() const { return path_; }
  /// The path of a file in the run.
  std::string at(std::string_view name) const;
  bool has(std::string_view name) const { return file_exists(at(name)); }

  /// Writes a whole file atomically. Training begins with config.toml: before it, a new run leaves nothing
  /// behind.
  void write(std::string_view name, std::string_view bytes);
  /// Appends a line to a file other than metrics.jsonl and waits until it is on the disk. Also for a viewed
  /// run.
  void record(std::string_view name, std::string_view line);
  /// Removes a run that create() made and that has no checkpoint: it was refused after config.toml was
  /// written.
  void discard();

  /// Appends one line: a JSON object with an integer "step". On the disk at the latest with the next save().
  void append_metrics(std::string_view line);

  /// In this order: metrics to the disk, the checkpoint's folder, last.json, best.json, and removal of those
  /// that are neither best nor among the newest keep - 1 (keep of 3, the least: best, last and the one
  /// before). Throws Refusal where the disk fails; then the last good checkpoint stays, and the text names
  /// it.
  void save(const Checkpoint& checkpoint, int64_t keep = 3);

  /// Steps that have a checkpoint folder, rising.
  std::vector<int64_t> steps() const;
  /// What the pointers say; nullopt where there is none or it can't be read.
  std::optional<int64_t> best() const;
  std::optional<int64_t> last() const;

  /// For resume: the newest checkpoint that verifies; nullopt where none was ever written. Warns for each
  /// newer one that is Damaged. Throws Refusal where a newer one can't be judged, and where none is good.
  /// Nothing is changed.
  std::optional<LoadedCheckpoint> find_last() const;
  /// For resume, once nothing is left that could refuse it: sets newer, damaged checkpoints aside (they are
  /// renamed, nothing is deleted), cuts metrics.jsonl back to the step of `from` and sets both pointers
  /// right. Without a checkpoint metrics are emptied and the run begins at its start.
  void go_on_from(const std::optional<LoadedCheckpoint>& from);
  /// Both at once.
  std::optional<LoadedCheckpoint> restore();
  /// For use: the checkpoint of that step, the model alone. Throws Refusal, with the steps there are.
  LoadedCheckpoint load(int64_t step, LoadedCheckpoint::Parts parts = LoadedCheckpoint::Parts::kModel) const;
  /// For use: the best one, the model alone. Where it is damaged: the newest good one, with a warning;
  /// with kModelLater a large file's damage may be found only by its SHA-256, which finish_verifying() tells.
  LoadedCheckpoint load_best(LoadedCheckpoint::Parts parts = LoadedCheckpoint::Parts::kModel) const;

 private:
  explicit RunFolder(std::string path) : path_(std::move(path)) {}
  std::optional<int64_t> pointer(std::string_view name) const;
  std::string checkpoint_path(int64_t step) const;
  LoadedCheckpoint open_checkpoint(int64_t step, LoadedCheckpoint::Parts parts) const;
  MetricsFile& metrics();
  void prune(int64_t best, int64_t keep);
  void remove_unfinished();
  void remove_made();

  std::string path_;
  std::optional<LockFile> lock_;        // none: the run is viewed
  std::optional<MetricsFile> metrics_;  // opened on first use
  std::vector<std::string> made_;       // folders that create() made, outermost first
  bool begun_ = false;                  // config.toml is written
  int64_t saved_step_ = -1;             // by this object
  std::string saved_state_;
};

/// True for the name, in checkpoints/, of one that go_on_from set aside.
bool is_set_aside(std::string_view name);

/// The run under `root` that was written to last. Throws Refusal where there is none.
std::string newest_run(const std::string& root = "runs");

}  // namespace tril
