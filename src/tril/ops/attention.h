// attention: every query weighs the keys it may see and takes the mean of their values by those weights, in H
// heads side by side (Vaswani et al. 2017, eq. 1; grouped key/value heads: Ainslie et al. 2023).
//   scores[b,h,i,j]   = a sum_d q[b,i,h,d] k[b,j,g,d],   g = h div (H / H_kv),  a = 1/√(d_k of a head) unless
//   given masked_scores     = scores where key j is visible to query i (ops/mask.h), else −∞ weights =
//   softmax over j of masked_scores;  a row with nothing visible gives zeros messages[b,i,h,d] = sum_j
//   weights[b,h,i,j] v[b,j,g,d] with e = dmessages · v:  ds[b,h,i,j] = weights (e[b,h,i,j] − sum_j' weights
//   e), dq += a ds k,   dk += a dsᵀ q,   dv += weightsᵀ dmessages
// With dropout p, in training alone: messages are made of weights k/(1 − p), k drawn 0 or 1 for each weight
// (ops/dropout.h), and e is multiplied by the same factor.
// Shapes: q [B, Tq, H·d_k] | k [B, Tk, H_kv·d_k] | v [B, Tk, H_kv·d_v] | messages [B, Tq, H·d_v] | pad [B],
// optional; Tq ≤ Tk: the queries are the last Tq positions (Tq = 1 is a window model's last query, or a step
// with a cache). Gradients are added. Under tracing, scores, masked_scores and weights [B, H, Tq, Tk] are
// named.
#pragma once
#include "tril/ops/mask.h"
#include "tril/ops/op.h"

namespace tril {

struct AttentionOptions {
  int64_t heads = 1;
  int64_t kv_heads = 0;  // 0 = heads
  double scale = 0;      // 0 = 1/√(d_k of a head)
  bool causal = true;
  double dropout = 0;   // chance of a weight to be dropped in training
  Tensor lengths = {};  // documents laid one after the other in a batch of one: the rows of each, i32 [N]
};

/// Keys and values of the positions so far (model/cache.h): k [B, capacity, H_kv·d_k], v [B, capacity,
/// H_kv·d_v]; the first `length` rows of each example count, and the last Tq of them are the queries' own.
struct CacheView {
  Tensor keys, values;
  int64_t length = 0;
};

/// `pad` may be an empty Var. An invisible key is never read, so a NaN in it does not leak.
Var attention(Tape& tape, Var q, Var k, Var v, const AttentionOptions& options, Var pad = {});
/// The same with keys and values from a cache; without gradients, so the tape must not record.
Var attention(Tape& tape, Var q, const CacheView& cache, const AttentionOptions& options);
extern const OpSpec attention_spec;

}  // namespace tril
