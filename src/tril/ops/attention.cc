#include "tril/ops/attention.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>

#include "tril/base/threads.h"
#include "tril/ops/attention_layout.h"
#include "tril/ops/dropout.h"
#include "tril/ops/gemm.h"
#include "tril/ops/rows.h"

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

#if defined(TRIL_BREAK_SOFTMAX_AXIS)
// For a test that must fail: each column of one head's weights is divided by its own sum.
template <class T>
void weigh_columns(int64_t queries, int64_t keys, T* weights) {
  for (int64_t j = 0; j < keys; ++j) {
    T sum = 0;
    for (int64_t i = 0; i < queries; ++i) sum += weights[i * keys + j];
    for (int64_t i = 0; i < queries && sum > 0; ++i) weights[i * keys + j] /= sum;
  }
}
#endif

// ---- fast: a piece is one example's group of heads that share keys, so that no two pieces add to the same
// place

bool finite_rows(const float* x, int64_t rows, int64_t cols, int64_t distance) {
  for (int64_t r = 0; r < rows; ++r)
    if (!rows::all_finite(x + r * distance, cols)) return false;
  return true;
}

// Large heads are worth a library call for each; the windows of a word model are not. A product multiplies
// invisible places by zero, and 0 · NaN is NaN: where anything is not finite the loops, which never read
// them, are used.
bool by_gemm(const Layout& s, const Head& at, const float* q, const float* k, const float* v) {
  return at.queries >= 16 && at.queries * at.keys * s.head_k >= (1 << 14) &&
         finite_rows(q, at.queries, s.head_k, s.q_width()) &&
         finite_rows(k, at.keys, s.head_k, s.k_width()) && finite_rows(v, at.keys, s.head_v, s.v_width());
}

// The scores of one head become its weights, in place.
void weigh_fast(const Head& at, float* weights) {
  constexpr float kNone = -std::numeric_limits<float>::infinity();
  for (int64_t i = 0; i < at.queries; ++i) {
    float* row = weights + i * at.keys;
    const int64_t first = at.first(i), end = at.end(i);
#if defined(TRIL_BREAK_ATTENTION_SHIFT)
    const float top = kNone;
#else
    const float top = rows::max(row + first, end - first);
#endif
    const float sum = rows::exp_sum(row + first, top == kNone ? 0 : top, row + first, end - first);
    rows::scale(row + first, sum == 0 ? 0 : 1 / sum, row + first, end - first);
    std::fill(row, row + first, 0.0f);
    std::fill(row + end, row + at.keys, 0.0f);
  }
#if defined(TRIL_BREAK_SOFTMAX_AXIS)
  weigh_columns(at.queries, at.keys, weights);
#endif
}

// Row i of the head's weights, or of their gradients, as dropout leaves it.
void drop_row(const Head& at, const DropoutMask& mask, int64_t i, const float* x, float* y) {
  for (int64_t j = at.first(i); j < at.end(i); ++j)
    y[j] = x[j] * static_cast<float>(mask.factor(at.w + i * at.keys + j));
}

/// The weights that make the messages: w itself, or in training with dropout what it leaves of them, in
/// `room`.
const float* used_weights(const Head& at, const DropoutMask& mask, const float* w, float* room) {
  if (!mask.drops()) return w;
  std::fill_n(room, at.queries * at.keys, 0.0f);
  for (int64_t i = 0; i < at.queries; ++i) drop_row(at, mask, i, w + i * at.keys, room + i * at.keys);
  return room;
}

// The pointers stand at the head's own first numbers here and in backward_head.
void forward_head(const Layout& s, const Head& at, const DropoutMask& mask, const float* q, const float* k,
                  const float* v, float* w, float* m, float* room) {
  const int64_t qw = s.q_width(), kw = s.k_width(), vw = s.v_width(), mw = s.m_width();
  const float scale = static_cast<float>(s.scale);
  if (by_gemm(s, at, q, k, v)) {
    const Transpose yes = Transpose::yes;
    gemm_one_thread(
        {.tb = yes, .m = at.queries, .n = at.keys, .k = s.head_k, .alpha = s.scale, .lda = qw, .ldb = kw}, q,
        k, w);
    weigh_fast(at, w);
    const float* used = used_weights(at, mask, w, room);
    gemm_one_thread({.m = at.queries, .n = s.head_v, .k = at.keys, .ldb = vw, .ldc = mw}, used, v, m);
    return;
  }
  for (int64_t i = 0; i < at.queries; ++i) {
    const int64_t first = at.first(i);
    rows::dots(q + i * qw, k + first * kw, kw, at.end(i) - first, s.head_k, scale, w + i * at.keys + first);
  }
  weigh_fast(at, w);
  const float* used = used_weights(at, mask, w, room);
  for (int64_t i = 0; i < at.queries; ++i) {
    const int64_t first = at.first(i);
    std::fill(m + i * mw, m + i * mw + s.head_v, 0.0f);
#if defined(TRIL_BREAK_MESSAGES)
    const int64_t end = at.end(i) - 1;
#else
    const int64_t end = at.end(i);
#endif
    rows::combine(used + i * at.keys + first, v + first * vw, vw, end - first, s.head_v, m + i * mw);
  }
}

// ds [Tq, Tk] is scratch; invisible places of it are zero.
void backward_head(const Layout& s, const Head& at, const DropoutMask& mask, const float* q, const float* k,
                   const float* v, const float* w, const float* dm, float* dq, float* dk, float* dv,
                   float* ds) {
  const int64_t qw = s.q_width(), kw = s.k_width(), vw = s.v_width(), mw = s.m_width();
  const Transpose yes = Transpose::yes;
  const bool products = by_gemm(s, at, q, k, v);
  if (products && dv != nullptr)
    gemm_one_thread(
        {.ta = yes, .m = at.keys, .n = s.head_v, .k = at.queries, .beta = 1, .ldb = mw, .ldc = vw},
        used_weights(at, mask, w, ds), dm, dv);
  if (products)
    gemm_one_thread({.tb = yes, .m = at.queries, .n = at.keys, .k = s.head_v, .lda = mw, .ldb = vw}, dm, v,
                    ds);
  for (int64_t i = 0; i < at.queries; ++i) {
    const int64_t first = at.first(i), end = at.end(i);
    float* row = ds + i * at.keys;
    const float* weight = w + i * at.keys;
    const int64_t count = end - first;
    if (!products && dv != nullptr) {
      if (mask.drops()) drop_row(at, mask, i, weight, row);
      rows::spread((mask.drops() ? row : weight) + first, dm + i * mw, vw, count, s.head_v, dv + first * vw);
    }
    if (!products) rows::dots(dm + i * mw, v + first * vw, vw, count, s.head_v, 1, row + first);
    if (mask.drops()) drop_row(at, mask, i, row, row);
    const float mean = rows::dot(weight + first, row + first, count);
    for (int64_t j = first; j < end; ++j) row[j] = weight[j] * (row[j] - mean);
    std::fill(row, row + first, 0.0f);
    std::fill(row + end, row + at.keys, 0.0f);
    if (products) continue;
    rows::scale(row + first, static_cast<float>(s.scale), row + first, count);
    if (dq != nullptr) rows::combine(row + first, k + first * kw, kw, count, s.head_k, dq + i * qw);
    if (dk != nullptr) rows::spread(row + first, q + i * qw, kw, count, s.head_k, dk + first * kw);
  }
  if (!products) return;
  const int64_t n = at.queries, keys = at.keys;
  if (dq != nullptr)
    gemm_one_thread({.m = n, .n = s.head_k, .k = keys, .alpha = s.scale, .beta = 1, .ldb = kw, .ldc = qw}, ds,
                    k, dq);
  if (dk != nullptr)
    gemm_one_thread(
        {.ta = yes, .m = keys, .n = s.head_k, .k = n, .alpha = s.scale, .beta = 1, .ldb = qw, .ldc = kw}, ds,
        q, dk);
}

// Calls body(head, scratch) for every example and head; heads that share keys and values run one after the
// other and share scratch too, which is where their [Tq, Tk] numbers may lie.
template <class Body>
void each_head(const Layout& s, const Body& body) {
  const int64_t groups = s.batch * s.kv_heads;
  const int64_t pairs = s.batch == 0 ? 0 : s.pairs() / s.batch;
  const int64_t grain = rows_per_piece(s.shared() * pairs * (s.head_k + s.head_v) / 4);
  parallel_for(pieces_of(groups, grain), [&](int64_t piece) {
    for (int64_t g = piece * grain; g < std::min(groups, (piece + 1) * grain); ++g)
      for (int64_t h = 0; h < s.shared(); ++h) {
        const int64_t b = g / s.kv_heads, group = g % s.kv_heads;
        const Head at = s.head(b, group * s.shared() + h);
        body(at, s.pairs_before(b) * s.kv_heads + group * at.queries * at.keys);
      }
  });
}

void forward_fast(const Layout& s, const DropoutMask& mask, const float* q, const float* k, const float* v,
                  float* w, float* m, float* scratch) {
  each_head(s, [&](const Head& at, int64_t place) {
    forward_head(s, at, mask, q + at.q, k + at.k, v + at.v, w + at.w, m + at.m,
                 scratch == nullptr ? nullptr : scratch + place);
  });
}

void backward_fast(const Layout& s, const DropoutMask& mask, const float* q, const float* k, const float* v,
                   const float* w, const float* dm, float* dq, float* dk, float* dv, float* ds) {
  const auto shift = [](float* p, int64_t by) { return p == nullptr ? nullptr : p + by; };
  each_head(s, [&](const Head& at, int64_t scratch) {
    backward_head(s, at, mask, q + at.q, k + at.k, v + at.v, w + at.w, dm + at.m, shift(dq, at.q),
                  shift(dk, at.k), shift(dv, at.v), ds + scratch);
  });
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

}  // namespace

Var attention(Tape& tape, Var q, Var k, Var v, const AttentionOptions& options, Var pad) {
  Layout s = layout_of(q.shape(), k.shape(), v.shape(), k.dim(1), options);
  if (pad.exists()) {
    require_shape("attention", "pad", pad.shape(), {q.dim(0)});
    s.pad = pad.v<int32_t>();
  }
  if (options.lengths.exists()) lay_documents(tape.arena(), options.lengths, q.shape(), s);
  const bool documents = options.lengths.exists();
  const bool wants = q.wants_grad() || k.wants_grad() || v.wants_grad();
  const Shape shape = documents ? Shape{s.pairs() * s.heads} : Shape{s.batch, s.heads, s.queries, s.keys};
  const Tensor weights = tape.arena().tensor(shape, tape.dtype());
  Var messages = tape.make({q.dim(0), q.dim(1), s.m_width()}, wants);
  const DropoutMask mask = next_mask(tape, options.dropout);
  with_real(tape.dtype(), [&](auto zero) {
    using T = decltype(zero);
    if (tape.tracing() && !documents) name_scores(tape, s, q.v<T>(), k.v<T>());
    if constexpr (std::is_same_v<T, float>) {
      if (tape.fast()) {
        const bool keeps = wants && tape.recording();
        const Tensor ds =
            tape.arena().tensor({keeps || mask.drops() ? s.pairs() * s.kv_heads : 0}, DType::f32);
        forward_fast(s, mask, q.v<T>(), k.v<T>(), v.v<T>(), weights.as<T>(), messages.v<T>(), ds.as<T>());
        if (!keeps) return;
        tape.on_backward([=] {
          backward_fast(s, mask, q.v<T>(), k.v<T>(), v.v<T>(), weights.as<T>(), messages.g<T>(), q.g<T>(),
                        k.g<T>(), v.g<T>(), ds.as<T>());
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
  if (!documents) tape.name("weights", weights);
  return messages;
}

Var attention(Tape& tape, Var q, const CacheView& cache, const AttentionOptions& options) {
  assert(!q.wants_grad());
  const Layout s = layout_of(q.shape(), cache.keys.shape, cache.values.shape, cache.length, options);
  const Tensor weights = tape.arena().tensor({s.batch, s.heads, s.queries, s.keys}, tape.dtype());
  Var messages = tape.make({s.batch, s.queries, s.m_width()}, false);
  with_real(tape.dtype(), [&](auto zero) {
    using T = decltype(zero);
    const T *k = cache.keys.as<T>(), *v = cache.values.as<T>();
    if (tape.tracing()) name_scores(tape, s, q.v<T>(), k);
    if constexpr (std::is_same_v<T, float>) {
      if (tape.fast()) return forward_fast(s, {}, q.v<T>(), k, v, weights.as<T>(), messages.v<T>(), nullptr);
    }
    forward(s, {}, q.v<T>(), k, v, weights.as<T>(), messages.v<T>());
  });
  tape.name("weights", weights);
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
              {{{1, 17, 64}, {1, 19, 64}, {1, 19, 64}, {1}}, {{"heads", 1}}, 19}}};

}  // namespace tril
