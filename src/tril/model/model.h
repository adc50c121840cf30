// Model: what training, generation and tracing know of any family. A family writes its forward pass once, as
// plain calls of ops on a tape; whoever calls it decides what the tape keeps. What it leaves out: text
// (text/), batches (data/), optimizers (train/).
#pragma once
#include <cstdint>
#include <memory>
#include <string>

#include "tril/autograd/tape.h"
#include "tril/model/cache.h"
#include "tril/model/config.h"
#include "tril/ops/cross_entropy.h"
#include "tril/tensor/python_random.h"
#include "tril/tensor/random.h"

namespace tril {

/// The id of the padding in a window (text/word_tokenizer.h gives it to <PAD>).
inline constexpr int32_t kPadId = 0;

/// One batch. Window models: ids [B, context], left-padded with kPadId, targets [B]. Decoders: ids [B, T],
/// targets [B, T]. All i32; a negative target is not counted. With `lengths` [N] a decoder's B is 1 and its
/// row holds N documents one after the other, none of which sees another: no padding is computed.
struct Batch {
  Tensor ids;
  Tensor targets;
  Tensor lengths = {};
};

/// Which positions the answer is wanted for. A window model trains and generates on the last alone.
enum class Rows : uint8_t { last, all };

/// Thread safety: forward and loss may run on several tapes at once while the parameters stay unchanged.
class Model {
 public:
  virtual ~Model() = default;

  const ModelConfig& config() const { return config_; }
  Parameters& parameters() { return parameters_; }
  const Parameters& parameters() const { return parameters_; }

  /// Draws the first weights in the family's order (design, sections 4 and 6), as PyTorch would.
  virtual void initialize(TorchGenerator& random) = 0;
  /// The same from Python's generator (microgpt). Throws Refusal in families that have no such program beside
  /// them.
  virtual void initialize(PythonRandom& random);

  /// Logits [B, T, V] for Rows::all, [B, 1, V] for Rows::last. Ids must lie below vocab_size (require_ids).
  virtual Var forward(Tape& tape, const Tensor& ids, Rows rows) const = 0;

  /// True where one example is one target (window models); false where each position is one (decoders).
  virtual bool one_target() const = 0;

  /// An empty key/value cache for `batch` sequences of up to `capacity` positions, at most the context. Null
  /// where the family keeps none (its forward pass is then the only way to generate).
  virtual std::unique_ptr<Cache> make_cache(int64_t batch, int64_t capacity) const;
  /// Logits as forward's of ids [B, n] that continue what the cache holds, which then holds them too. The
  /// tape must not record; cache.length() + n ≤ cache.capacity().
  virtual Var step(Tape& tape, const Tensor& ids, Cache& cache, Rows rows) const;

  /// The loss of a batch over its counted targets, with gradients where the tape records.
  virtual CrossEntropy loss(Tape& tape, const Batch& batch, Reduce reduce) const;

 protected:
  Model(ModelConfig config, DType dtype) : config_(std::move(config)), parameters_(dtype) {}

  ModelConfig config_;
  Parameters parameters_;
};

/// Draws into a parameter of either type from a generator of floats.
void draw_normal(TorchGenerator& random, const Tensor& out, double mean = 0, double deviation = 1);
void draw_linear_weight(TorchGenerator& random, const Tensor& out);                // out [rows, fan_in]
void draw_linear_bias(TorchGenerator& random, const Tensor& out, int64_t fan_in);  // out [rows]
/// Sets row `row` of a table [V, D] to zero.
void zero_row(const Tensor& table, int64_t row);

}  // namespace tril
