#include "tril/train/base_model.h"

#include <fmt/format.h>

#include <algorithm>

#include "tril/base/error.h"
#include "tril/base/file.h"
#include "tril/base/hash.h"
#include "tril/base/memory.h"
#include "tril/base/quote.h"
#include "tril/base/typed.h"
#include "tril/formats/convert_tensor.h"
#include "tril/formats/foreign_model.h"
#include "tril/formats/foreign_tensors.h"
#include "tril/formats/tensor_range.h"
#include "tril/train/loaded_run.h"

namespace tril {
namespace {

constexpr const char* kNoTraining = "no training can begin from it; tril show names all such tensors";

void copy_all(const Parameters& from, Parameters& to, const std::string& path) {
  for (int i = 0; i < from.size(); ++i) {
    const std::string& name = from.info(i).name;
    copy_converted(stored(name, from.value(i)), to.value(to.find(name)), path);
  }
}

// A run: its best checkpoint. It is read once for what it is, and again for its weights, so that they don't
// lie in memory while others are trained.
class RunBase : public BaseModel {
 public:
  explicit RunBase(const std::string& path) {
    const LoadedRun run = load_run(path, std::nullopt, {}, Use::kInference);
    path_ = run.path;
    step_ = run.step;
    config_ = run.config.model;
    tokenizer_ = run.tokenizer;
    ends_ = run.ends;
    if (config_.family != "decoder")
      refuse("{}: is of the family {}; fine-tuning starts from a decoder", path, config_.family);
    if (config_.lora.rank > 0)
      refuse(
          "{}: has an adapter of rank {}; go on with it by {}, or export it with --merge and start from that",
          path, config_.lora.rank, typed({"resume", path}));
    const Parameters& p = run.model->parameters();
    std::vector<int> order;
    for (int i = 0; i < p.size(); ++i) order.push_back(i);
    std::sort(order.begin(), order.end(), [&](int a, int b) { return p.info(a).name < p.info(b).name; });
    Sha256 hash;
    for (const int i : order) add_tensor(hash, p.info(i).name, stored("", p.value(i)).bytes);
    run.checkpoint->finish_verifying();
    for (const int i : order) {
      if (const std::string what = not_finite(range_of(stored("", p.value(i)))); !what.empty())
        refuse("{}: tensor {} {}: {}", run.checkpoint->model().path(), in_quotes(p.info(i).name), what,
               kNoTraining);
    }
    sha256_ = to_hex(hash.digest());
  }

  void copy_to(Parameters& to) const override {
    const LoadedRun run = load_run(path_, step_, {}, Use::kInference);
    copy_all(run.model->parameters(), to, path_);
    run.checkpoint->finish_verifying();
  }

 private:
  int64_t step_ = 0;
};

// Another program's model, mapped; its weights are turned into ours when they are copied.
class ForeignBase : public BaseModel {
 public:
  explicit ForeignBase(const std::string& path) : foreign_(open_foreign_model(path)) {
    path_ = foreign_.path;
    if (!foreign_.tokenizer)
      refuse("{}: brings no tokenizer, and its weights mean nothing without; {} puts the two together", path,
             typed({"import", path, "--tokenizer", "FILE", "--out", "RUN"}));
    tokenizer_ = foreign_.tokenizer;
    ends_ = foreign_.ends;
    Config whole;
    whole.model = foreign_.config;
    config_ = resolve(whole).model;
    config_.vocab_size = tokenizer_->vocab_size();
    if (const auto faults = not_finite(foreign_.tensors); !faults.empty())
      refuse("{}: {}", faults.front(), kNoTraining);
    sha256_ = foreign_.tensors.sha256();
  }

  void copy_to(Parameters& to) const override {
    if (config_.vocab_size == foreign_.config.vocab_size) return foreign_.copy_to(to);
    const auto cut = load_foreign_model(foreign_, to.dtype(), machine_memory());
    copy_all(cut->parameters(), to, path_);
  }

 private:
  ForeignModel foreign_;
};

// The run whose checkpoint, or a file of it, the path is; "" where it is none.
std::string run_above(const std::string& path) {
  const size_t at = (path + "/").rfind("/checkpoints/");
  if (at == std::string::npos) return "";
  const std::string run = path.substr(0, at);
  return file_exists(run + "/config.toml") ? run : "";
}

}  // namespace

std::shared_ptr<const BaseModel> BaseModel::open(const std::string& path) {
  if (path.empty())
    refuse("--from needs a run, a Hugging Face folder, or a .gguf, .bin or .safetensors file");
  if (surely_missing(path)) refuse("{}: there is no such run, folder or file", path);
  if (folder_exists(path) && file_exists(path + "/config.toml")) return std::make_shared<RunBase>(path);
  if (const std::string run = run_above(path); !run.empty())
    refuse("{}: is part of a run; give the run, whose best checkpoint is gone on from: --from {}", path,
           shell_word(run));
  return std::make_shared<ForeignBase>(path);
}

void BaseModel::fix(ConfigBuilder& builder) const {
  Config whole;
  whole.model = config_;
  whole.data.tokenizer = tokenizer_->kind();
  whole.train.from_sha256 = sha256_;
  for (const ConfigKey& key : config_keys()) {
    const std::string name = key.full_name();
    const bool ours = key.section == "model" && key.name != "dropout";
    if (ours || name == "data.tokenizer" || name == "train.from_sha256")
      builder.fix(path_, key, get_value(whole, key));
  }
}

void BaseModel::require_of(const Config& config) const {
  if (config.train.from_sha256 == sha256_) return;
  refuse(
      "{}: its weights have SHA-256 {}, the run was begun from {}; put the old ones back, or train a new run",
      path_, sha256_, config.train.from_sha256);
}

std::string fine_tuning_defaults(const BaseModel& base) {
  constexpr int64_t kBlock = 128;
  return fmt::format(
      "[data]\nsplit = \"auto\"\n"
      "[train]\nsteps = 100\nbatch = 4\nblock = {}\nlearning_rate = 1e-4\nclip = 1.0\n"
      "eval_every = 50\neval_examples = 2048\nlog_every = 1\n",
      std::min(kBlock, base.config().context));
}

}  // namespace tril
