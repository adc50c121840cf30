#include "tril/ops/attention.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>

#include "tril/ops/attention_fast.h"
#include "tril/ops/dropout.h"

namespace tril {
namespace {

using Layout = AttentionLayout;
using Head = AttentionHead;

// ---- the definition

/// A row of scores becomes weights; where nothing is visible, or every score is −∞, zeros.
template <class T>
void softmax_visible(int64_t first, int64_t end, int64_t keys, T* row) {
  T top = -std::numeric_limits<T>::infinity(), sum = 0;
  for (int64_t j = first; j < end; ++j) top = std::max(top, row[j]);
  const T shift = top == -std::numeric_limits<T>::infinity() ? T{0} : top;
  for (int64_t j = first; j < end; ++j) sum += row[j] = std::exp(row[j] - shift);
  for (int64_t j = 0; j < keys; ++j) row[j] = j >= first && j < end && sum != 0 ? row[j] / sum : T{0};
}

/// What dropout multiplies weight n by; 1 where it is off.
template <class T>
T factor_of(const DropoutMask& mask, int64_t n) {
  return mask.drops() ? static_cast<T>(mask.factor(n)) : T{1};
}

template <class T>
void forward(const Layout& s, const DropoutMask& mask, const T* q, const T* k, const T* v, T* weights,
             T* messages) {
  for (int64_t b = 0; b < s.batch; ++b) {
    for (int64_t h = 0; h < s.heads; ++h) {
      const Head at = s.head(b, h);
      for (int64_t i = 0; i < at.queries; ++i) {
        const T* query = q + at.q + i * s.q_width();
        T* row = weights + at.w + i * at.keys;
        for (int64_t j = at.first(i); j < at.end(i); ++j) {
          T score = 0;
          for (int64_t d = 0; d < s.head_k; ++d) score += query[d] * k[at.k + j * s.k_width() + d];
          row[j] = score * static_cast<T>(s.scale);
        }
        softmax_visible(at.first(i), at.end(i), at.keys, row);
        T* message = messages + at.m + i * s.m_width();
        std::fill_n(message, s.head_v, T{0});
        for (int64_t j = at.first(i); j < at.end(i); ++j) {
          const T share = row[j] * factor_of<T>(mask, at.w + i * at.keys + j);
          for (int64_t d = 0; d < s.head_v; ++d) message[d] += share * v[at.v + j * s.v_width() + d];
        }
      }
    }
  }
}

template <class T>
void backward(const Layout& s, const DropoutMask& mask, const T* q, const T* k, const T* v, const T* weights,
              const T* dm, T* dq, T* dk, T* dv) {
  for (int64_t b = 0; b < s.batch; ++b) {
    for (int64_t h = 0; h < s.heads; ++h) {
      const Head at = s.head(b, h);
      for (int64_t i = 0; i < at.queries; ++i) {
        const T* row = weights + at.w + i * at.keys;
        const T* up = dm + at.m + i * s.m_width();
        const int64_t query = at.q + i * s.q_width();
        const auto e = [&](int64_t j) {
          T sum = 0;
          for (int64_t d = 0; d < s.head_v; ++d) sum += up[d] * v[at.v + j * s.v_width() + d];
          return sum * factor_of<T>(mask, at.w + i * at.keys + j);
        };
        T mean = 0;
        for (int64_t j = at.first(i); j < at.end(i); ++j) mean += row[j] * e(j);
        for (int64_t j = at.first(i); j < at.end(i); ++j) {
          const int64_t key = at.k + j * s.k_width(), value = at.v + j * s.v_width();
          const T ds = static_cast<T>(s.scale) * row[j] * (e(j) - mean);
          for (int64_t d = 0; d < s.head_k; ++d) {
            if (dq != nullptr) dq[query + d] += ds * k[key + d];
            if (dk != nullptr) dk[key + d] += ds * q[query + d];
          }
          if (dv == nullptr) continue;
          const T share = row[j] * factor_of<T>(mask, at.w + i * at.keys + j);
          for (int64_t d = 0; d < s.head_v; ++d) dv[value + d] += share * up[d];
        }
      }
    }
  }
}

// ---- what a trace shows: the same scores before and after the mask

template <class T>
void name_scores(Tape& tape, const Layout& s, const T* q, const T* k) {
  const Shape shape{s.batch, s.heads, s.queries, s.keys};
  const Tensor scores = tape.arena().tensor(shape, tape.dtype()),
               masked = tape.arena().tensor(shape, tape.dtype());
  for (int64_t b = 0; b < s.batch; ++b)
    for (int64_t h = 0; h < s.heads; ++h) {
      const Head at = s.head(b, h);
      for (int64_t i = 0; i < s.queries; ++i)
        for (int64_t j = 0; j < s.keys; ++j) {
          T score = 0;
          for (int64_t d = 0; d < s.head_k; ++d)
            score += q[at.q + i * s.q_width() + d] * k[at.k + j * s.k_width() + d];
          const int64_t n = at.w + i * s.keys + j;
          const bool visible = j >= at.first(i) && j < at.end(i);
          scores.as<T>()[n] = score * static_cast<T>(s.scale);
#if defined(TRIL_BREAK_FINITE)
          masked.as<T>()[n] = visible ? scores.as<T>()[n] : std::numeric_limits<T>::infinity();
#else
          masked.as<T>()[n] = visible ? scores.as<T>()[n] : -std::numeric_limits<T>::infinity();
#endif
        }
    }
  tape.name("scores", scores);
  tape.name("masked_scores", masked);
}

/// `keys` are how many of k's and v's rows count: all, or as many as a cache holds so far.
Layout layout_of(const Shape& q, const Shape& k, const Shape& v, int64_t keys,
                 const AttentionOptions& options) {
  const int64_t kv_heads = options.kv_heads == 0 ? options.heads : options.kv_heads;
  const auto rank3 = [](const char* name, const Shape& x) {
    if (x.rank() != 3) shape_error("attention", name, x, "[B, T, heads·width]");
  };
  rank3("q", q), rank3("k", k), rank3("v", v);
  if (options.heads < 1 || kv_heads < 1 || options.heads % kv_heads != 0 || q.cols() % options.heads != 0)
    shape_error("attention", "q", q, std::to_string(options.heads) + " heads in equal groups");
  const int64_t head_k = q.cols() / options.heads, head_v = v.cols() / kv_heads;
  require_shape("attention", "k", k, {q[0], k[1], kv_heads * head_k});
  require_shape("attention", "v", v, {q[0], k[1], kv_heads * head_v});
  if (q[1] > keys) shape_error("attention", "q", q, "no more queries than keys");
  const double scale = options.scale != 0 ? options.scale : 1 / std::sqrt(static_cast<double>(head_k));
#if defined(TRIL_BREAK_SCALE)
  const double used = scale * 0 + 1;
#else
  const double used = scale;
#endif
  return {.batch = q[0],
          .queries = q[1],
          .keys = keys,
          .heads = options.heads,
          .kv_heads = kv_heads,
          .head_k = head_k,
          .head_v = head_v,
          .scale = used,
          .causal = options.causal,
          .stored_keys = k[1]};
}

/// The documents of q's one row of the batch take the place of the batch.
void lay_documents(Arena& arena, const Tensor& lengths, const Shape& q, Layout& s) {
  const int64_t count = lengths.count();
  int64_t* row = static_cast<int64_t*>(arena.allocate(static_cast<size_t>(count + 1) * 2 * sizeof(int64_t)));
  int64_t* pair = row + count + 1;
  row[0] = pair[0] = 0;
  for (int64_t i = 0; i < count; ++i) {
    const int64_t length = lengths.as<int32_t>()[i];
    row[i + 1] = row[i] + length;
    pair[i + 1] = pair[i] + length * length;
  }
  if (q[0] != 1 || q[1] != s.keys || row[count] != q[1])
    shape_error("attention", "q", q,
                "[1, " + std::to_string(row[count]) + ", width]: the documents' lengths");
  s.batch = count;
  s.first_row = row, s.first_pair = pair;
}

/// Room for the weights; [B, H, Tq, Tk] where they are not the fast loops' own.
Tensor make_weights(Tape& tape, const Layout& s, const DropoutMask& mask) {
  if (tape.fast()) return tape.arena().tensor({attention_fast::kept_numbers(s, mask)}, DType::f32);
  const bool documents = s.first_row != nullptr;
  const Shape shape = documents ? Shape{s.pairs() * s.heads} : Shape{s.batch, s.heads, s.queries, s.keys};
  return tape.arena().tensor(shape, tape.dtype());
}

}  // namespace

Var attention(Tape& tape, Var q, Var k, Var v, const AttentionOptions& options, Var pad) {
  const OpScope scope(tape, "attention", {q, k, v});
  Layout s = layout_of(q.shape(), k.shape(), v.shape(), k.dim(1), options);
  if (pad.exists()) {
    require_shape("attention", "pad", pad.shape(), {q.dim(0)});
    s.pad = pad.v<int32_t>();
  }
  if (options.lengths.exists()) lay_documents(tape.arena(), options.lengths, q.shape(), s);
  const bool documents = options.lengths.exists();
  const bool wants = q.wants_grad() || k.wants_grad() || v.wants_grad();
  const DropoutMask mask = next_mask(tape, options.dropout, s.pairs() * s.heads);
  const Tensor weights = make_weights(tape, s, mask);
  Var messages = tape.make({q.dim(0), q.dim(1), s.m_width()}, wants);
  if (tape.counting()) {
    if (tape.fast()) tape.arena().tensor({wants || mask.drops() ? s.pairs() * s.kv_heads : 0}, DType::f32);
    return messages;
  }
  with_real(tape.dtype(), [&](auto zero) {
    using T = decltype(zero);
    if (tape.tracing() && !documents) name_scores(tape, s, q.v<T>(), k.v<T>());
    if constexpr (std::is_same_v<T, float>) {
      if (tape.fast()) {
        const bool keeps = wants && tape.recording();
        const Tensor ds =
            tape.arena().tensor({keeps || mask.drops() ? s.pairs() * s.kv_heads : 0}, DType::f32);
        attention_fast::forward(s, mask, q.v<T>(), k.v<T>(), v.v<T>(), weights.as<T>(), messages.v<T>(),
                                ds.as<T>());
        if (!keeps) return;
        tape.on_backward([=] {
          attention_fast::backward(s, mask, q.v<T>(), k.v<T>(), v.v<T>(), weights.as<T>(), messages.g<T>(),
                                   q.g<T>(), k.g<T>(), v.g<T>(), ds.as<T>());
        });
        return;
      }
    }
    forward(s, mask, q.v<T>(), k.v<T>(), v.v<T>(), weights.as<T>(), messages.v<T>());
    if (wants)
      tape.on_backward([=] {
        backward(s, mask, q.v<T>(), k.v<T>(), v.v<T>(), weights.as<T>(), messages.g<T>(), q.g<T>(), k.g<T>(),
                 v.g<T>());
      });
  });
  if (documents || !tape.tracing()) return messages;
  tape.name("weights", tape.fast() ? attention_fast::by_head(tape.arena(), s, mask, weights) : weights);
  return messages;
}

Var attention(Tape& tape, Var q, const CacheView& cache, const AttentionOptions& options) {
  const OpScope scope(tape, "attention", {q});
  assert(!q.wants_grad());
  const Layout s = layout_of(q.shape(), cache.keys.shape, cache.values.shape, cache.length, options);
  const Tensor weights = make_weights(tape, s, {});
  Var messages = tape.make({s.batch, s.queries, s.m_width()}, false);
  with_real(tape.dtype(), [&](auto zero) {
    using T = decltype(zero);
    const T *k = cache.keys.as<T>(), *v = cache.values.as<T>();
    if (tape.tracing()) name_scores(tape, s, q.v<T>(), k);
    if constexpr (std::is_same_v<T, float>) {
      if (tape.fast())
        return attention_fast::forward(s, {}, q.v<T>(), k, v, weights.as<T>(), messages.v<T>(), nullptr);
    }
    forward(s, {}, q.v<T>(), k, v, weights.as<T>(), messages.v<T>());
  });
  if (tape.tracing())
    tape.name("weights", tape.fast() ? attention_fast::by_head(tape.arena(), s, {}, weights) : weights);
  return messages;
}

const OpSpec attention_spec{
    .name = "attention",
    .torch = "torch.nn.functional.scaled_dot_product_attention",
    .arguments = {{"q"}, {"k"}, {"v"}, {"pad", true, true}},
    .call =
        [](Tape& tape, std::span<const Var> in, const Attributes& a) {
          AttentionOptions options;
          options.heads = static_cast<int64_t>(attribute(a, "heads", 1));
          options.kv_heads = static_cast<int64_t>(attribute(a, "kv_heads", 0));
          options.causal = attribute(a, "causal", 1) != 0;
          options.dropout = attribute(a, "dropout", 0);
          return attention(tape, in[0], in[1], in[2], options, in.size() > 3 ? in[3] : Var());
        },
    .cases = {{{{0, 3, 4}, {0, 3, 4}, {0, 3, 4}, {}}},
              {{{1, 1, 1}, {1, 1, 1}, {1, 1, 1}, {}}},
              {{{2, 5, 6}, {2, 5, 6}, {2, 5, 6}, {2}}, {}, 5},
              {{{3, 1, 5}, {3, 7, 5}, {3, 7, 3}, {3}}, {}, 7},
              {{{2, 4, 8}, {2, 4, 4}, {2, 4, 6}, {}}, {{"heads", 4}, {"kv_heads", 2}}},
              {{{1, 3, 6}, {1, 5, 6}, {1, 5, 6}, {1}}, {{"heads", 2}}, 5},
              {{{2, 4, 6}, {2, 4, 6}, {2, 4, 6}, {}}, {{"heads", 2}, {"causal", 0}}},
              {{{2, 4, 6}, {2, 4, 6}, {2, 4, 6}, {2}}, {{"heads", 2}, {"dropout", 0.4}}, 4},
              {{{1, 17, 64}, {1, 19, 64}, {1, 19, 64}, {}}, {{"dropout", 0.4}}},
              {{{1, 17, 64}, {1, 19, 64}, {1, 19, 64}, {1}}, {{"heads", 1}}, 19},
              {{{3, 7, 16}, {3, 7, 16}, {3, 7, 16}, {3}}, {{"heads", 4}}, 7},
              {{{2, 5, 32}, {2, 9, 32}, {2, 9, 32}, {}}, {{"heads", 4}}},
              {{{2, 6, 32}, {2, 6, 32}, {2, 6, 32}, {2}}, {{"heads", 2}, {"causal", 0}}, 6}}};

}  // namespace tril
