// A checkpoint: a folder with all that training needs to go on from a step to the same bits. Written whole or
// not at all, verified before use. docs/formats/checkpoint.md has it byte by byte. What it leaves out: which
// checkpoints a run keeps and which one it uses (train/run_folder.h), and what the tensors mean (the caller).
#pragma once
#include <cstdint>
#include <functional>
#include <future>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tril/autograd/parameters.h"
#include "tril/base/error.h"
#include "tril/formats/safetensors.h"
#include "tril/formats/stored_tensor.h"
#include "tril/train/metrics_file.h"

namespace tril {

/// Every setting by its full name ("train.clip"), its value as a run's config.toml has it ("1.0").
using SettingsText = std::map<std::string, std::string>;

/// What is saved. The tensors' bytes stay the caller's until the save returns.
struct Checkpoint {
  int64_t step = 0;                         // weights after this step's update; 0 before any
  int64_t best_step = 0;                    // the best by validation loss so far, maybe this one
  std::string tokenizer;                    // fingerprint: SHA-256 of the run's tokenizer.json, 64 hex digits
  std::vector<StoredTensor> model;          // names differ
  std::vector<StoredTensor> optimizer;      // names differ; empty where there are no moments
  std::string state = "{}";                 // a JSON object: generators, counters, losses, program version
  SettingsText settings = {};               // of the run; empty: none are kept
  std::string source = {};                  // SHA-256 of the text, as data.json has it; "": none is kept
  std::optional<MetricsMark> metrics = {};  // metrics.jsonl at this step; RunFolder::save fills it in
};

/// A checkpoint whose files are not those that were written: cut, changed or gone. Anything else that keeps a
/// checkpoint from being used (no permission, a newer format) is a plain Refusal: it may well be whole.
class Damaged : public Refusal {
 public:
  using Refusal::Refusal;
};

/// A verified checkpoint; its tensors are views into mapped files that it holds.
class LoadedCheckpoint {
 public:
  /// kModel: for use without training; the optimizer's file is not touched. kModelLater: the same, but the
  /// SHA-256 of a file of kLarge bytes or more is taken on a thread while the weights are in use already.
  enum class Parts { kAll, kModel, kModelLater };
  static constexpr uint64_t kLarge = uint64_t{16} << 20;

  /// Verifies state.json, then size and SHA-256 of each file used. Throws Damaged or Refusal with what is
  /// wrong.
  explicit LoadedCheckpoint(const std::string& folder, Parts parts = Parts::kAll);
  /// May be moved, not assigned to: members are assigned in the order of their declaration, and the old map
  /// would go while its SHA-256 is still being taken.
  LoadedCheckpoint(LoadedCheckpoint&&) = default;
  LoadedCheckpoint& operator=(LoadedCheckpoint&&) = delete;

  const std::string& folder() const { return folder_; }
  int64_t step() const { return step_; }
  int64_t best_step() const { return best_step_; }
  const std::string& tokenizer() const { return tokenizer_; }
  /// Empty, "" and nullopt where the program that wrote it kept none.
  const SettingsText& settings() const { return settings_; }
  const std::string& source() const { return source_; }
  const std::optional<MetricsMark>& metrics() const { return metrics_; }
  /// The caller's JSON object, in text.
  const std::string& state() const { return state_; }
  const SafetensorsFile& model() const { return *model_; }
  /// Each weight by its name, letting go of the file's pages. Throws Refusal where one is missing or
  /// misshapen.
  void copy_model_to(const Parameters& parameters) const;
  /// Waits for the SHA-256 that kModelLater has put off; throws Damaged where it is not the right one.
  void finish_verifying() const;
  /// Does work with the weights, then finish_verifying(). Where the work fails, that the file was changed is
  /// told first: it is likely why.
  void use(const std::function<void()>& work) const;
  /// Only where all parts were asked for.
  const SafetensorsFile& optimizer() const { return *optimizer_; }

  /// Refuses where the checkpoint was trained with another tokenizer than that of `file`, with both
  /// fingerprints.
  void require_tokenizer(std::string_view fingerprint, std::string_view file) const;

 private:
  std::string folder_;
  int64_t step_ = 0, best_step_ = 0;
  std::string tokenizer_, state_, source_;
  SettingsText settings_;
  std::optional<MetricsMark> metrics_;
  std::unique_ptr<SafetensorsFile> model_, optimizer_;
  std::shared_future<void> verifying_;  // goes before the map that it reads
};

/// Writes the folder under a temporary name, flushes each file, calls `before_rename` (what else must be on
/// the disk by then), and renames it to `folder`, which must not exist.
void save_checkpoint(const std::string& folder, const Checkpoint& checkpoint,
                     const std::function<void()>& before_rename = nullptr);

/// Refuses where names, types or shapes in `file` are not those of `expected`: the first difference with both
/// values, and all missing or unexpected names.
void require_tensors(const SafetensorsFile& file, std::span<const TensorSpec> expected);

/// "step-00000300" and back; nullopt for any other name.
std::string checkpoint_name(int64_t step);
std::optional<int64_t> checkpoint_step(std::string_view name);

}  // namespace tril
