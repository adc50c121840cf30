// decoder: a stack of blocks over token rows, with a switch for each choice that the GPT family has made:
// where and how to normalise, how a position is told, the activation, shared key heads, biases, a tied head
// (model/config.h; docs/decoder.md). TinyGPT, microgpt, nanoGPT, GPT-2 and Llama are settings of it.
//   x = E[ids] (+ position rows)
//   pre:   x = x + attention(norm(x));   x = x + feed_forward(norm(x))
//   post:  x = norm(x + attention(x));   x = norm(x + feed_forward(x))
//   logits = norm(x) W_vᵀ (+ b_v), softly capped where asked
// Names of the values under tracing: X; in each block, under "blocks.N.", Q K V scores masked_scores weights
// messages updates contextual hidden output; final (with a final norm) and logits.
#pragma once
#include <vector>

#include "tril/model/model.h"
#include "tril/model/narrow_step.h"

namespace tril {

/// Refuses a decoder whose positions see later ones: its logits continue nothing. Other families pass.
void require_causal(const ModelConfig& config);

class Decoder : public Model {
 public:
  /// vocab_size must be set; the configuration must be one that train/config_check.h accepts.
  Decoder(const ModelConfig& config, DType dtype);

  /// Token rows, position rows, each block's W_Q, W_K, W_V, W_O and feed-forward layers, the head; for
  /// "microgpt" the head comes before the blocks. What is drawn depends on config.init (docs/decoder.md).
  void initialize(TorchGenerator& random) override;
  void initialize(PythonRandom& random) override;

  /// ids [B, T], T ≤ context.
  Var forward(Tape& tape, const Tensor& ids, Rows rows) const override;
  CrossEntropy loss(Tape& tape, const Batch& batch, Reduce reduce) const override;
  bool one_target() const override { return false; }

  std::unique_ptr<Cache> make_cache(int64_t batch, int64_t capacity) const override;
  Var step(Tape& tape, const Tensor& ids, Cache& cache, Rows rows) const override;

 private:
  // Indices of parameters; −1 where the configuration has none.
  struct Layer {
    int weight = -1, bias = -1;
  };
  struct Norm {
    int gain = -1, bias = -1;
  };
  struct Block {
    Norm attention_norm, mlp_norm;
    Layer q, k, v, o, gate, up, down;
  };
  /// Of a layer's adapter: A, and its own rows of B.
  struct Adapter {
    int a = -1, b = -1;
    int64_t first = 0;
  };
  /// Where the rows of one pass stand: from `start` on, behind a cache, or as documents in one row.
  struct Pass {
    int64_t start = 0;
    Cache* cache = nullptr;
    Tensor lengths, places;  // i32 [N] and [T]
  };

  void add_adapters();
  Layer add_layer(const std::string& name, int64_t out, int64_t in, bool bias);
  Norm add_norm(const std::string& name);
  Block add_block(const std::string& name);

  Var embed(Tape& tape, const Tensor& ids, const Pass& pass) const;
  Var block(Tape& tape, int64_t index, Var x, const Pass& pass) const;
  Var attend(Tape& tape, int64_t index, Var x, const Pass& pass) const;
  Var feed_forward(Tape& tape, const Block& block, Var x) const;
  Var activate(Tape& tape, Var x) const;
  Var stack(Tape& tape, const Tensor& ids, const Pass& pass) const;
  Var logits(Tape& tape, Var x, Rows rows) const;

  Var weight(Tape& tape, int index) const { return index < 0 ? Var() : tape.parameter(parameters_, index); }
  Var apply(Tape& tape, const Layer& layer, Var x) const;
  Var norm(Tape& tape, const Norm& norm, Var x) const;
  Var unit_heads(Tape& tape, Var x, int64_t heads) const;

  // The same numbers without the ops, for models that narrow_step() knows (decoder_step.cc).
  Var narrow_logits(Tape& tape, const Tensor& ids, const Cache& cache) const;
  NarrowLayer narrow(const Layer& layer) const { return {numbers(layer.weight), numbers(layer.bias)}; }
  NarrowNorm narrow(const Norm& norm) const { return {numbers(norm.gain), numbers(norm.bias)}; }
  const float* numbers(int index) const {
    return index < 0 ? nullptr : parameters_.flat_values().as<float>() + parameters_.info(index).offset;
  }

  template <class Draw>
  void draw_all(Draw& draw);

  int64_t kv_heads_, head_k_, head_v_;
  int tokens_ = -1, positions_ = -1;
  Norm embedding_norm_, final_norm_;
  Layer head_;
  std::vector<Block> blocks_;
  NarrowDecoder narrow_;
  std::vector<Adapter> adapters_;  // by the index of the layer's weight; empty without LoRA
};

}  // namespace tril
