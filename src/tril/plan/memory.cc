// The plan of memory.
#include "tril/plan/memory.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "tril/base/error.h"
#include "tril/base/memory.h"
#include "tril/base/progress.h"
#include "tril/base/table.h"
#include "tril/model/registry.h"
#include "tril/train/frozen.h"
#include "tril/train/trainer.h"

namespace tril {
namespace {

// Code that oneDNN writes for the shapes it meets, its scratch memory, the threads' stacks and a checkpoint's
// buffers. tests/plan_program_test.cc holds the whole plan to what runs took.
constexpr int64_t kLibrary = 10'000'000;

std::string bytes_text(int64_t bytes) {
  return short_bytes(static_cast<double>(bytes));
}

}  // namespace

int64_t MemoryPlan::total() const {
  return std::max(peak_so_far, resident + parameters + gradients + moments + activations + library);
}

MemoryPlan plan_memory(const Config& config, int64_t validation_targets) {
  MemoryPlan plan;
  plan.resident = resident_memory();
  plan.peak_so_far = peak_memory();
  const std::unique_ptr<Model> model = make_model(config.model, dtype_of(config.run));
  plan.parameters = model->parameters().flat_values().bytes();
  freeze(model->parameters(), config);
  plan.trained = trained_count(model->parameters());
  for (const auto& [offset, count] : model->parameters().trained_ranges())
    plan.gradients += count * size_of(model->parameters().dtype());
  plan.moments = 2 * plan.gradients;
  plan.activations = std::max(step_bytes(config), evaluation_bytes(config, validation_targets));
  plan.library = kLibrary;
  return plan;
}

MemoryPlan require_memory(const Config& config, int64_t validation_targets, int64_t machine) {
  const MemoryPlan plan = plan_memory(config, validation_targets);
  if (plan.total() <= machine) return plan;
  std::string fits;
  const auto try_one = [&](Config other, const std::string& what) {
    const int64_t total = plan_memory(other, validation_targets).total();
    if (total <= machine)
      fits += fmt::format("{}{} ({})", fits.empty() ? "" : ", or ", what, bytes_text(total));
    return total <= machine;
  };
  Config other = config;
  other.train.recompute = config.model.family == "decoder";
  if (!config.train.recompute && other.train.recompute) try_one(other, "train.recompute = true");
  for (other = config; other.train.accumulate < other.train.batch;) {
    other.train.accumulate = std::min(2 * other.train.accumulate, other.train.batch);
    if (try_one(other, fmt::format("train.accumulate = {}", other.train.accumulate))) break;
  }
  for (other = config; other.train.batch > 1;) {
    other.train.batch /= 2;
    other.train.accumulate = std::min(other.train.accumulate, other.train.batch);
    if (try_one(other, fmt::format("train.batch = {}", other.train.batch))) break;
  }
  refuse("training needs about {}, and the machine has {}; {}", memory_text(plan), bytes_text(machine),
         fits.empty() ? "no batch of it fits: take a smaller model" : "what fits: " + fits);
}

std::string memory_text(const MemoryPlan& plan) {
  return fmt::format("{} (program and text {}, parameters {}, gradients {}, moments {}, activations {})",
                     bytes_text(plan.total()), bytes_text(plan.resident + plan.library),
                     bytes_text(plan.parameters), bytes_text(plan.gradients), bytes_text(plan.moments),
                     bytes_text(plan.activations));
}

}  // namespace tril
