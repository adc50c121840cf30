// A run's files, written to be timed.
#include "tril/plan/saving.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string_view>
#include <vector>

#include "tril/base/clock.h"
#include "tril/base/file.h"
#include "tril/train/config.h"
#include "tril/train/run_folder.h"

namespace tril {
namespace {

constexpr size_t kWritten = size_t{64} << 20;  // of a checkpoint's tensors, in all
constexpr const char* kLine =
    R"({"step":1234,"tokens_seen":1234567,"train_batch_loss":2.0123456789012345,"lr":0.0009876543210987654,)"
    R"("grad_norm":0.9876543210987654,"seconds":12.345678901234567})";

size_t bytes_of(const std::vector<StoredTensor>& tensors) {
  size_t bytes = 0;
  for (const StoredTensor& tensor : tensors) bytes += tensor.bytes.size();
  return bytes;
}

// The first `room` bytes of the tensors, of which the last may be cut; `room` becomes what is left of it.
std::vector<StoredTensor> first_of(const std::vector<StoredTensor>& tensors, size_t& room) {
  std::vector<StoredTensor> first;
  for (const StoredTensor& tensor : tensors) {
    if (room == 0) break;
    const size_t size = std::min(room, tensor.bytes.size());
    first.push_back(
        {tensor.name, StoredType::kU8, {static_cast<int64_t>(size)}, tensor.bytes.substr(0, size)});
    room -= size;
  }
  return first;
}

template <class Work>
double seconds_of(const Work& work) {
  const double begun = steady_seconds();
  work();
  return steady_seconds() - begun;
}

double line_seconds(RunFolder& run) {
  constexpr int kLines = 100;
  return seconds_of([&] {
           for (int n = 0; n < kLines; ++n)
             run.append_metrics(
                 nlohmann::ordered_json::parse(kLine).dump());  // reading takes as long as making
         }) /
         kLines;
}

double checkpoint_seconds(const Trainer& trainer, RunFolder& run) {
  Checkpoint whole;
  trainer.describe(whole);
  whole.state = nlohmann::json{{"generators", trainer.generators()}}.dump();
  const auto save = [&](int64_t step, size_t room) {
    Checkpoint part = whole;
    part.step = part.best_step = step;
    part.model = first_of(whole.model, room);
    part.optimizer = first_of(whole.optimizer, room);
    return seconds_of([&] { run.save(part); });
  };
  const size_t bytes = bytes_of(whole.model) + bytes_of(whole.optimizer);
  if (4 * bytes <= kWritten) {  // from the third on, an older one goes
    save(1, bytes), save(2, bytes);
    return (save(3, bytes) + save(4, bytes)) / 2;
  }
  if (bytes <= kWritten) return save(1, bytes);
  const double fixed = save(1, 0), more = std::max(0.0, save(2, kWritten) - fixed);
  return fixed + more * (static_cast<double>(bytes) / static_cast<double>(kWritten));
}

}  // namespace

SavingSpeed measure_saving(const Trainer& trainer, const std::string& folder) {
  const FolderWriter place(folder + "/plan");  // is not committed, so it goes with all in it
  RunFolder run = RunFolder::create(place.folder() + "/run");
  SavingSpeed speed;
  const std::string text = config_to_toml(trainer.config());
  speed.file = seconds_of([&] { run.write("config.toml", text); });
  speed.line = line_seconds(run);
  speed.checkpoint = checkpoint_seconds(trainer, run);
  return speed;
}

}  // namespace tril
