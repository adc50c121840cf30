// narrow_step: the next token of a decoder 16 to 64 wide in one call. It computes what the decoder's ops
// compute for one row behind a cache (decoder.cc, the definition that the test holds it to), but without a
// tape, and with the rows of a small matrix in registers. Weights are read where they lie: there is no copy
// that could be old. What it leaves out, and the ops do: rotary and sinusoidal positions, QK-norm, shared key
// heads, adapters, contexts over 64.
#pragma once
#include <cstdint>

#include "tril/model/config.h"

namespace tril {

/// What is the same for every token.
struct NarrowDecoder {
  enum class Norm : uint8_t { none, rms, layer };

  bool fits = false;  // false: the ops have to do it, and nothing below is set
  int64_t width = 0, head = 0, hidden = 0, vocabulary = 0, layers = 0;
  Norm norm = Norm::none;
  bool pre_norm = true, embedding_norm = false, final_norm = false, gated = false;
  float norm_epsilon = 0, scale = 1, softcap = 0;
  void (*activation)(const float* x, float* y,
                     int64_t n) = nullptr;  // of ops/rows.h; of the gate where gated
};

/// Of this model on this machine. vocab_size must be set.
NarrowDecoder narrow_decoder(const ModelConfig& config);

// Where the numbers lie. Shapes: weight [out, in] | bias [out] or null | gain, bias of a norm [width] or null
// | keys, values [capacity, width], a layer's of one text.
struct NarrowLayer {
  const float *weight = nullptr, *bias = nullptr;
};
struct NarrowNorm {
  const float *gain = nullptr, *bias = nullptr;
};
struct NarrowBlock {
  NarrowNorm attention_norm, mlp_norm;
  NarrowLayer q, k, v, o, gate, up, down;
  float *keys = nullptr, *values = nullptr;
};
struct NarrowPlaces {
  NarrowNorm embedding_norm, final_norm;
  NarrowLayer head;
  const NarrowBlock* blocks = nullptr;
};

/// The logits [vocabulary] after the token whose row is `token` and whose position's is `place` (null:
/// positions are not told). It is the text's token number `position`, counted from 0: its keys and values are
/// written there, and those before it are read.
void narrow_step(const NarrowDecoder& decoder, const NarrowPlaces& at, const float* token, const float* place,
                 int64_t position, float* logits);

}  // namespace tril
