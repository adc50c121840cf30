#include "tril/train/run_folder.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cassert>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "tril/base/error.h"
#include "tril/base/interrupt.h"
#include "tril/base/log.h"
#include "tril/base/quote.h"
#include "tril/base/typed.h"
#include "tril/text/utf8.h"
#include "tril/train/output_place.h"

namespace tril {
namespace {
using nlohmann::json;

constexpr const char* kConfig = "config.toml";
constexpr const char* kLock = "lock";
constexpr const char* kMetrics = "metrics.jsonl";
constexpr const char* kCheckpoints = "checkpoints";
constexpr const char* kGenerationConfig = "generation_config.json";  // an import's first file
constexpr const char* kBest = "best.json";
constexpr const char* kLast = "last.json";
constexpr const char* kDamaged = ".damaged";  // ends the name of a checkpoint that was set aside

/// "runs/a//" names the folder "runs/a".
std::string without_slashes(std::string path) {
  while (path.size() > 1 && path.back() == '/') path.pop_back();
  return path;
}

/// True for what an import that was killed leaves: its lock, no config.toml, nothing but its files, and of
/// checkpoints none but step 0.
bool is_broken_import(const std::string& path) {
  const auto there = [&](const char* name) { return !surely_missing(path + "/" + name); };
  if (!there(kLock) || !there(kGenerationConfig) || there(kConfig)) return false;
  constexpr std::string_view kMade[] = {
      kLock, kGenerationConfig, "tokenizer.json", kMetrics, kCheckpoints, kBest, kLast};
  const auto made = [&](const std::string& name) {
    return is_temporary_name(name) || std::find(std::begin(kMade), std::end(kMade), name) != std::end(kMade);
  };
  const auto first = [](const std::string& name) {
    return is_temporary_name(name) || checkpoint_step(name) == 0;
  };
  const std::vector<std::string> names = list_folder(path);
  const std::string checkpoints = path + "/" + kCheckpoints;
  const std::vector<std::string> steps =
      folder_exists(checkpoints) ? list_folder(checkpoints) : std::vector<std::string>();
  return std::all_of(names.begin(), names.end(), made) && std::all_of(steps.begin(), steps.end(), first);
}

/// The file that marks a broken import goes last.
void remove_broken_import(const std::string& path) {
  for (const std::string& name : list_folder(path))
    if (name != kLock && name != kGenerationConfig) remove_path(path + "/" + name);
  remove_path(path + "/" + kGenerationConfig);
}

/// Refuses a folder that holds more than a run that died before config.toml leaves.
void require_free(const std::string& path) {
  if (is_broken_import(path)) return;
  for (const std::string& name : list_folder(path)) {
    if (name == kLock || is_temporary_name(name)) continue;
    if (file_exists(path + "/" + kConfig)) {
      refuse("{}: already holds a run; go on with it ({}) or give another --out", path,
             typed({"resume", path}));
    }
    refuse("{}: is not empty, it holds {}; give another --out or an empty folder", path, in_quotes(name));
  }
}

void require_run(const std::string& path) {
  if (file_exists(path)) refuse("{}: is a file, a run is a folder", path);
  if (!folder_exists(path)) refuse("{}: there is no such run", path);
  if (!file_exists(path + "/" + kConfig)) refuse("{}: is not a run, it has no {}", path, kConfig);
}

void write_pointer(PendingFile& file, int64_t step) {
  file.writer().write(
      fmt::format("{{\"step\": {}, \"path\": \"{}/{}\"}}\n", step, kCheckpoints, checkpoint_name(step)));
  file.writer().begin_flush();
}

std::string no_folder(const std::string& path) {
  return path + ": is a file, a checkpoint is a folder";
}

std::string list_steps(const std::vector<int64_t>& steps) {
  return steps.empty() ? "none" : fmt::format("{}", fmt::join(steps, ", "));
}
}  // namespace

void RunFolder::require_new(const std::string& given) {
  const std::string path = without_slashes(given);
  if (path.empty()) refuse("--out: a folder's name is needed");
  if (const auto bad = first_invalid_utf8(path))
    refuse("--out {}: byte {} is not valid UTF-8; a run's name stands in its files, which are UTF-8",
           in_quotes(path), *bad);
  if (file_exists(path)) refuse("{}: is a file, a run is a folder; give another --out", path);
  const bool there = folder_exists(path);
  if (there) require_free(path);
  require_output_place(path);
  require_writable(path);
  if (!there) return;
  LockFile::require_unused(path + "/" + kLock, path);
}

RunFolder RunFolder::create(const std::string& given) {
  require_new(given);
  const std::string path = without_slashes(given);
  RunFolder run(path);
  run.made_ = make_folders(path);
  run.lock_.emplace(run.at(kLock), path);
  require_free(path);  // once more: another process may have been quicker
  run.remove_unfinished();
  if (is_broken_import(path)) remove_broken_import(path);
  probe_folder(path);
  return run;
}

RunFolder RunFolder::create_default(const std::string& name, const std::string& root) {
  for (int number = 1;; ++number) {
    const std::string path =
        number == 1 ? fmt::format("{}/{}", root, name) : fmt::format("{}/{}-{}", root, name, number);
    if (folder_exists(path) || file_exists(path)) continue;
    RunFolder run = create(path);
    if (!run.made_.empty() && run.made_.back() == path) return run;  // else another process made it just now
  }
}

RunFolder RunFolder::open(const std::string& given) {
  RunFolder run = view(given);
  run.lock_.emplace(run.at(kLock), run.path_);
  if (run.lock_->taken_over()) {
    log::note("{}: process {} ended without cleaning up; taking its run over", run.path_,
              run.lock_->former_owner());
  }
  run.remove_unfinished();
  return run;
}

RunFolder RunFolder::view(const std::string& given) {
  RunFolder run(without_slashes(given));
  require_run(run.path_);
  run.begun_ = true;
  return run;
}

RunFolder::RunFolder(RunFolder&& other) noexcept
    : path_(std::move(other.path_)),
      lock_(std::move(other.lock_)),
      metrics_(std::move(other.metrics_)),
      made_(std::move(other.made_)),
      begun_(other.begun_),
      saved_step_(other.saved_step_),
      saved_state_(std::move(other.saved_state_)) {
  other.lock_.reset();
  other.metrics_.reset();
  other.made_.clear();
  other.begun_ = true;
}

RunFolder::~RunFolder() {
  if (!begun_) remove_made();
}

/// Removes the folders that create() made, as far as they are empty.
void RunFolder::remove_made() {
  lock_.reset();
  std::error_code ignored;
  for (auto folder = made_.rbegin(); folder != made_.rend(); ++folder)
    std::filesystem::remove(*folder, ignored);
  made_.clear();
}

std::string RunFolder::at(std::string_view name) const {
  return fmt::format("{}/{}", path_, name);
}

std::string RunFolder::checkpoint_path(int64_t step) const {
  return fmt::format("{}/{}/{}", path_, kCheckpoints, checkpoint_name(step));
}

void RunFolder::write(std::string_view name, std::string_view bytes) {
  assert(lock_);
  write_file_atomically(at(name), bytes);
  begun_ = true;
}

void RunFolder::record(std::string_view name, std::string_view line) {
  LineFile file(at(name));
  file.append(line);
  file.flush();
}

void RunFolder::discard() {
  const interrupt::Postpone until_done;
  assert(lock_ && steps().empty());
  metrics_.reset();
  for (const std::string& name : list_folder(path_)) {
    if (name != kLock && name != kConfig) remove_path(at(name));
  }
  remove_path(at(kConfig));  // last: a death before it leaves a run that can begin again
  begun_ = false;
  remove_made();
}

void RunFolder::remove_unfinished() {
  remove_temporaries(path_);
  if (folder_exists(at(kCheckpoints))) remove_temporaries(at(kCheckpoints));
}

MetricsFile& RunFolder::metrics() {
  assert(lock_);
  if (!metrics_) metrics_.emplace(at(kMetrics));
  return *metrics_;
}

void RunFolder::append_metrics(std::string_view line) {
  assert(metrics_step(line));
  metrics().append(line);
}

void RunFolder::save(const Checkpoint& checkpoint, int64_t keep) {
  if (checkpoint.step == saved_step_ && checkpoint.state == saved_state_)
    return;  // an interrupt just after a save
  try {
    const std::string folder = checkpoint_path(checkpoint.step);
    make_folders(at(kCheckpoints));
    if (!surely_missing(folder)) remove_path(folder);
    // All that is small is handed to the disk first and waited for last: one wait serves for all of it.
    PendingFile last_pointer(at(kLast)), best_pointer(at(kBest));
    write_pointer(last_pointer, checkpoint.step);
    write_pointer(best_pointer, checkpoint.best_step);
    metrics().begin_flush();
    Checkpoint marked = checkpoint;
    marked.metrics = metrics().mark();
    save_checkpoint(folder, marked, [this] { metrics().flush(); });
    last_pointer.rename();
    best_pointer.rename();
    flush_folder(path_);
    prune(checkpoint.best_step, keep);
  } catch (const Refusal& refusal) {
    const std::vector<int64_t> kept = steps();
    refuse("{}\n{}: the checkpoint of step {} was not saved; {}", refusal.what(), path_, checkpoint.step,
           kept.empty() ? "the run has none yet" : fmt::format("kept: step {}", list_steps(kept)));
  }
  saved_step_ = checkpoint.step;
  saved_state_ = checkpoint.state;
}

void RunFolder::prune(int64_t best, int64_t keep) {
  const std::vector<int64_t> all = steps();
  const auto newest = static_cast<size_t>(std::max<int64_t>(keep, 3) - 1);
  for (size_t i = 0; i + newest < all.size(); ++i) {
    if (all[i] != best) remove_path(checkpoint_path(all[i]));
  }
}

std::vector<int64_t> RunFolder::steps() const {
  std::vector<int64_t> steps;
  if (!folder_exists(at(kCheckpoints))) return steps;
  for (const std::string& name : list_folder(at(kCheckpoints))) {
    const std::optional<int64_t> step = checkpoint_step(name);
    if (step && folder_exists(checkpoint_path(*step))) steps.push_back(*step);
  }
  std::sort(steps.begin(), steps.end());
  return steps;
}

std::optional<int64_t> RunFolder::best() const {
  return pointer(kBest);
}
std::optional<int64_t> RunFolder::last() const {
  return pointer(kLast);
}

std::optional<int64_t> RunFolder::pointer(std::string_view name) const {
  if (!has(name)) return std::nullopt;
  const json parsed = json::parse(read_file(at(name)), nullptr, false);
  if (!parsed.is_object()) return std::nullopt;
  const auto step = parsed.find("step");
  const auto path = parsed.find("path");
  if (step == parsed.end() || !step->is_number_integer() || path == parsed.end()) return std::nullopt;
  const auto number = step->get<int64_t>();
  if (!path->is_string() ||
      path->get_ref<const std::string&>() != fmt::format("{}/{}", kCheckpoints, checkpoint_name(number)))
    return std::nullopt;
  return number;
}

std::optional<LoadedCheckpoint> RunFolder::find_last() const {
  const std::vector<int64_t> all = steps();
  const std::optional<int64_t> pointed = last();
  if (pointed && file_exists(checkpoint_path(*pointed)))
    log::warn("{}", no_folder(checkpoint_path(*pointed)));
  for (auto step = all.rbegin(); step != all.rend(); ++step) {
    try {
      LoadedCheckpoint found = open_checkpoint(*step, LoadedCheckpoint::Parts::kAll);
      if (*step != all.back() || pointed.value_or(*step) > *step)
        log::warn("{}: going on from step {}, the newest checkpoint that is whole", path_, *step);
      return found;
    } catch (const Damaged& damage) {
      log::warn("{}", damage.what());
    } catch (const Refusal& refusal) {
      refuse(
          "{}\n{}: the checkpoint of step {} may be whole, so nothing was changed; put right what keeps it "
          "from being read, or move it out of {} to go on from an older one",
          refusal.what(), path_, *step, kCheckpoints);
    }
  }
  if (!all.empty() || has(kLast))
    refuse("{}: none of its checkpoints can be used (steps: {}); train anew with another --out", path_,
           list_steps(all));
  return std::nullopt;
}

void RunFolder::go_on_from(const std::optional<LoadedCheckpoint>& from) {
  assert(lock_);
  if (!from) return metrics().cut_back(-1, std::nullopt);
  const int64_t step = from->step();
  metrics().cut_back(step, from->metrics());
  for (const int64_t other : steps())
    if (other > step) move_path(checkpoint_path(other), checkpoint_path(other) + kDamaged);
  const bool has_best = folder_exists(checkpoint_path(from->best_step()));
  PendingFile last_pointer(at(kLast)), best_pointer(at(kBest));
  write_pointer(last_pointer, step);
  write_pointer(best_pointer, has_best ? from->best_step() : step);
  last_pointer.rename();
  best_pointer.rename();
  flush_folder(path_);
}

std::optional<LoadedCheckpoint> RunFolder::restore() {
  std::optional<LoadedCheckpoint> from = find_last();
  go_on_from(from);
  return from;
}

LoadedCheckpoint RunFolder::open_checkpoint(int64_t step, LoadedCheckpoint::Parts parts) const {
  LoadedCheckpoint found(checkpoint_path(step), parts);
  if (found.step() != step)
    throw Damaged(fmt::format("{}: holds the state of step {}", checkpoint_path(step), found.step()));
  return found;
}

LoadedCheckpoint RunFolder::load(int64_t step, LoadedCheckpoint::Parts parts) const {
  if (file_exists(checkpoint_path(step))) refuse("{}", no_folder(checkpoint_path(step)));
  if (!folder_exists(checkpoint_path(step))) {
    refuse("{}: has no checkpoint of step {}; there are: {}", path_, step, list_steps(steps()));
  }
  return open_checkpoint(step, parts);
}

LoadedCheckpoint RunFolder::load_best(LoadedCheckpoint::Parts parts) const {
  std::string trouble;
  for (int attempt = 0; attempt < 3; ++attempt) {  // a training process may move best.json while we read
    const std::optional<int64_t> step = best();
    try {
      if (step) return load(*step, parts);
    } catch (const Refusal& refusal) {
      trouble = refusal.what();
      if (best() == step) break;
    }
  }
  std::vector<int64_t> all = steps();
  for (auto step = all.rbegin(); step != all.rend(); ++step) {
    try {
      LoadedCheckpoint found = load(*step, parts);
      if (trouble.empty()) trouble = fmt::format("{}: names no checkpoint", at(kBest));
      log::warn("{}\nwarning: {}: using the checkpoint of step {} instead of the best one", trouble, path_,
                *step);
      return found;
    } catch (const Refusal& refusal) {
      if (trouble.empty()) trouble = refusal.what();
    }
  }
  if (!trouble.empty()) refuse("{}\n{}: none of its checkpoints can be used", trouble, path_);
  refuse("{}: has no checkpoint yet; train it first ({})", path_, typed({"resume", path_}));
}

bool is_set_aside(std::string_view name) {
  return name.ends_with(kDamaged) &&
         checkpoint_step(name.substr(0, name.size() - std::string_view(kDamaged).size())).has_value();
}

std::string newest_run(const std::string& root) {
  std::string newest;
  std::filesystem::file_time_type newest_time;
  for (const std::string& name : folder_exists(root) ? list_folder(root) : std::vector<std::string>()) {
    const std::string path = fmt::format("{}/{}", root, name);
    for (const char* file : {kConfig, kMetrics, kLast}) {
      std::error_code error;
      const auto time = std::filesystem::last_write_time(path + "/" + file, error);
      if (error || !file_exists(path + "/" + kConfig) || (!newest.empty() && time <= newest_time)) continue;
      newest = path;
      newest_time = time;
    }
  }
  if (newest.empty()) refuse("{}: holds no run; give a run's folder, or train one first", root);
  return newest;
}

}  // namespace tril
