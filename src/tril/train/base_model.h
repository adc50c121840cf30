// The model that a fine-tuning starts from: a run of tril's, or another program's folder or file. Its
// settings and its tokenizer become the new run's. What it leaves out: training it (trainer.h), and adapters,
// which come on top (model/lora.h).
#pragma once
#include <memory>
#include <string>

#include "tril/autograd/parameters.h"
#include "tril/formats/hf_config.h"
#include "tril/text/tokenizer.h"
#include "tril/train/config.h"

namespace tril {

class BaseModel {
 public:
  /// Opens and checks it. Throws Refusal where it can't be read, brings no tokenizer, is no decoder, or is a
  /// run with an adapter of its own.
  static std::shared_ptr<const BaseModel> open(const std::string& path);
  virtual ~BaseModel() = default;

  const std::string& path() const { return path_; }
  /// Resolved; vocab_size is the tokenizer's.
  const ModelConfig& config() const { return config_; }
  const std::shared_ptr<const Tokenizer>& tokenizer() const { return tokenizer_; }
  const EndTokens& ends() const { return ends_; }
  /// SHA-256 over the names and bytes of its tensors, in the order of their names.
  const std::string& sha256() const { return sha256_; }
  /// Copies its weights into the parameters of their names; others stay as they are.
  virtual void copy_to(Parameters& parameters) const = 0;

  /// Makes its settings those of a configuration that is being gathered: [model] (but for dropout), the
  /// tokenizer, and what identifies it. What a file or flag says otherwise is a fault, told by finish().
  void fix(ConfigBuilder& builder) const;
  /// Throws Refusal unless it is the one that a resolved configuration was made with.
  void require_of(const Config& config) const;

 protected:
  std::string path_, sha256_;
  ModelConfig config_;
  std::shared_ptr<const Tokenizer> tokenizer_;
  EndTokens ends_;
};

/// What --from trains with where no preset and no file say otherwise, as TOML.
std::string fine_tuning_defaults(const BaseModel& base);

}  // namespace tril
