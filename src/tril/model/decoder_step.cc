// The decoder behind a cache: one or more tokens after those that it holds, by the ops of decoder.cc; a
// single token of a narrow model in one call (narrow_step.h).
#include <cassert>
#include <memory>
#include <new>

#include "tril/base/error.h"
#include "tril/model/decoder.h"

namespace tril {

void require_causal(const ModelConfig& config) {
  if (config.family != "decoder" || config.mask == "causal") return;
  refuse("model.mask = \"{}\" lets every position see every other, so nothing can be generated from it",
         config.mask);
}

std::unique_ptr<Cache> Decoder::make_cache(int64_t batch, int64_t capacity) const {
  require_causal(config_);
  assert(capacity <= config_.context);
  return std::make_unique<Cache>(config_.layers, batch, capacity, kv_heads_ * head_k_, kv_heads_ * head_v_,
                                 parameters_.dtype());
}

Var Decoder::step(Tape& tape, const Tensor& ids, Cache& cache, Rows rows) const {
  assert(!tape.recording() && ids.shape.cols() <= cache.room());
  const bool narrow =
      narrow_.fits && ids.shape.cols() == 1 && tape.fast() && !tape.tracing() && !tape.counting();
  const auto by_ops = [&] {
    Pass pass;
    pass.start = cache.length();
    pass.cache = &cache;
    return logits(tape, stack(tape, ids, pass), rows);
  };
  const Var found = narrow ? narrow_logits(tape, ids, cache) : by_ops();
  cache.advance(ids.shape.cols());
  return found;
}

// Where the weights lie is looked up for every token, so that they may move between two.
Var Decoder::narrow_logits(Tape& tape, const Tensor& ids, const Cache& cache) const {
  const OpScope scope(tape, "narrow_step", {});
  const int64_t texts = ids.shape[0], position = cache.length(), width = narrow_.width;
  const Var out = tape.make({texts, 1, narrow_.vocabulary}, false);
  auto* const blocks = static_cast<NarrowBlock*>(
      tape.arena().allocate(static_cast<size_t>(narrow_.layers) * sizeof(NarrowBlock)));
  const NarrowPlaces places{narrow(embedding_norm_), narrow(final_norm_), narrow(head_), blocks};
  const float* const place = positions_ < 0 ? nullptr : numbers(positions_) + position * width;
  for (int64_t text = 0; text < texts; ++text) {
    for (int64_t i = 0; i < narrow_.layers; ++i) {
      const Block& b = blocks_[static_cast<size_t>(i)];
      const auto [keys, values] = cache.rows<float>(i, text);
      new (blocks + i) NarrowBlock{
          narrow(b.attention_norm), narrow(b.mlp_norm), narrow(b.q),    narrow(b.k), narrow(b.v), narrow(b.o),
          narrow(b.gate),           narrow(b.up),       narrow(b.down), keys,        values};
    }
    const float* const token = numbers(tokens_) + ids.as<int32_t>()[text] * width;
    narrow_step(narrow_, places, token, place, position, out.v<float>() + text * narrow_.vocabulary);
  }
  return out;
}

}  // namespace tril
