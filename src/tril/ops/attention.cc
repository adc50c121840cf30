#include "tril/ops/attention.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "tril/base/threads.h"
#include "tril/ops/gemm.h"
#include "tril/ops/rows.h"

namespace tril {
namespace {

// Sizes and where the parts of one head lie. A head's queries are every q_width-th row of head_k numbers.
struct Sizes {
  int64_t batch, queries, keys, heads, kv_heads, head_k, head_v;
  double scale;
  Visible visible;
  const int32_t* pad;

  int64_t q_width() const { return heads * head_k; }
  int64_t k_width() const { return kv_heads * head_k; }
  int64_t v_width() const { return kv_heads * head_v; }
  int64_t m_width() const { return heads * head_v; }
  int64_t group(int64_t h) const { return h / (heads / kv_heads); }
  int64_t q_at(int64_t b, int64_t h) const { return b * queries * q_width() + h * head_k; }
  int64_t k_at(int64_t b, int64_t h) const { return b * keys * k_width() + group(h) * head_k; }
  int64_t v_at(int64_t b, int64_t h) const { return b * keys * v_width() + group(h) * head_v; }
  int64_t m_at(int64_t b, int64_t h) const { return b * queries * m_width() + h * head_v; }
  int64_t w_at(int64_t b, int64_t h) const { return (b * heads + h) * queries * keys; }
  int64_t padding(int64_t b) const { return pad == nullptr ? 0 : pad[b]; }
};

// ---- the definition
// -------------------------------------------------------------------------------------------

template <class T>
void softmax_visible(int64_t first, int64_t end, int64_t keys, T* row) {
  T top = -std::numeric_limits<T>::infinity(), sum = 0;
  for (int64_t j = first; j < end; ++j) top = std::max(top, row[j]);
  for (int64_t j = first; j < end; ++j) sum += row[j] = std::exp(row[j] - top);
  for (int64_t j = 0; j < keys; ++j) row[j] = j >= first && j < end ? row[j] / sum : T{0};
}

template <class T>
void forward(const Sizes& s, const T* q, const T* k, const T* v, T* weights, T* messages) {
  for (int64_t b = 0; b < s.batch; ++b) {
    for (int64_t h = 0; h < s.heads; ++h) {
      for (int64_t i = 0; i < s.queries; ++i) {
        const int64_t first = s.visible.first(i, s.padding(b)), end = s.visible.end(i);
        const T* query = q + s.q_at(b, h) + i * s.q_width();
        T* row = weights + s.w_at(b, h) + i * s.keys;
        for (int64_t j = first; j < end; ++j) {
          T score = 0;
          for (int64_t d = 0; d < s.head_k; ++d) score += query[d] * k[s.k_at(b, h) + j * s.k_width() + d];
          row[j] = score * static_cast<T>(s.scale);
        }
        softmax_visible(first, end, s.keys, row);
        T* message = messages + s.m_at(b, h) + i * s.m_width();
        for (int64_t d = 0; d < s.head_v; ++d) {
          T sum = 0;
          for (int64_t j = first; j < end; ++j) sum += row[j] * v[s.v_at(b, h) + j * s.v_width() + d];
          message[d] = sum;
        }
      }
    }
  }
}

template <class T>
void backward(const Sizes& s, const T* q, const T* k, const T* v, const T* weights, const T* dm, T* dq, T* dk,
              T* dv) {
  for (int64_t b = 0; b < s.batch; ++b) {
    for (int64_t h = 0; h < s.heads; ++h) {
      for (int64_t i = 0; i < s.queries; ++i) {
        const int64_t first = s.visible.first(i, s.padding(b)), end = s.visible.end(i);
        const T* row = weights + s.w_at(b, h) + i * s.keys;
        const T* up = dm + s.m_at(b, h) + i * s.m_width();
        const int64_t query = s.q_at(b, h) + i * s.q_width();
        const auto e = [&](int64_t j) {
          T sum = 0;
          for (int64_t d = 0; d < s.head_v; ++d) sum += up[d] * v[s.v_at(b, h) + j * s.v_width() + d];
          return sum;
        };
        T mean = 0;
        for (int64_t j = first; j < end; ++j) mean += row[j] * e(j);
        for (int64_t j = first; j < end; ++j) {
          const int64_t key = s.k_at(b, h) + j * s.k_width(), value = s.v_at(b, h) + j * s.v_width();
          const T ds = static_cast<T>(s.scale) * row[j] * (e(j) - mean);
          for (int64_t d = 0; d < s.head_k; ++d) {
            if (dq != nullptr) dq[query + d] += ds * k[key + d];
            if (dk != nullptr) dk[key + d] += ds * q[query + d];
          }
          if (dv == nullptr) continue;
          for (int64_t d = 0; d < s.head_v; ++d) dv[value + d] += row[j] * up[d];
        }
      }
    }
  }
}

// ---- fast: a piece is one example's group of heads that share keys, so that no two pieces add to the same
// place ----

bool finite_rows(const float* x, int64_t rows, int64_t cols, int64_t distance) {
  for (int64_t r = 0; r < rows; ++r)
    if (!rows::all_finite(x + r * distance, cols)) return false;
  return true;
}

// Large heads are worth a library call for each; the windows of a word model are not. A product multiplies
// invisible places by zero, and 0 · NaN is NaN: where anything is not finite the loops, which never read
// them, are used.
bool by_gemm(const Sizes& s, const float* q, const float* k, const float* v) {
  return s.queries >= 16 && s.queries * s.keys * s.head_k >= (1 << 14) &&
         finite_rows(q, s.queries, s.head_k, s.q_width()) && finite_rows(k, s.keys, s.head_k, s.k_width()) &&
         finite_rows(v, s.keys, s.head_v, s.v_width());
}

// The scores of one head become its weights, in place.
void weigh_fast(const Sizes& s, int64_t b, float* weights) {
  for (int64_t i = 0; i < s.queries; ++i) {
    float* row = weights + i * s.keys;
    const int64_t first = s.visible.first(i, s.padding(b)), end = s.visible.end(i);
    const float top = rows::max(row + first, end - first);
    const float sum = rows::exp_sum(row + first, top, row + first, end - first);
    rows::scale(row + first, 1 / sum, row + first, end - first);
    std::fill(row, row + first, 0.0f);
    std::fill(row + end, row + s.keys, 0.0f);
  }
}

void forward_head(const Sizes& s, int64_t b, const float* q, const float* k, const float* v, float* w,
                  float* m) {
  const int64_t qw = s.q_width(), kw = s.k_width(), vw = s.v_width(), mw = s.m_width();
  const float scale = static_cast<float>(s.scale);
  if (by_gemm(s, q, k, v)) {
    gemm_one_thread({.tb = Transpose::yes,
                     .m = s.queries,
                     .n = s.keys,
                     .k = s.head_k,
                     .alpha = s.scale,
                     .lda = qw,
                     .ldb = kw},
                    q, k, w);
    weigh_fast(s, b, w);
    gemm_one_thread({.m = s.queries, .n = s.head_v, .k = s.keys, .ldb = vw, .ldc = mw}, w, v, m);
    return;
  }
  for (int64_t i = 0; i < s.queries; ++i)
    for (int64_t j = s.visible.first(i, s.padding(b)); j < s.visible.end(i); ++j)
      w[i * s.keys + j] = scale * rows::dot(q + i * qw, k + j * kw, s.head_k);
  weigh_fast(s, b, w);
  for (int64_t i = 0; i < s.queries; ++i) {
    std::fill(m + i * mw, m + i * mw + s.head_v, 0.0f);
    for (int64_t j = s.visible.first(i, s.padding(b)); j < s.visible.end(i); ++j)
      rows::axpy(w[i * s.keys + j], v + j * vw, m + i * mw, s.head_v);
  }
}

// ds [Tq, Tk] is scratch; invisible places of it are zero.
void backward_head(const Sizes& s, int64_t b, const float* q, const float* k, const float* v, const float* w,
                   const float* dm, float* dq, float* dk, float* dv, float* ds) {
  const int64_t qw = s.q_width(), kw = s.k_width(), vw = s.v_width(), mw = s.m_width();
  const bool products = by_gemm(s, q, k, v);
  if (products)
    gemm_one_thread({.tb = Transpose::yes, .m = s.queries, .n = s.keys, .k = s.head_v, .lda = mw, .ldb = vw},
                    dm, v, ds);
  for (int64_t i = 0; i < s.queries; ++i) {
    const int64_t first = s.visible.first(i, s.padding(b)), end = s.visible.end(i);
    float* row = ds + i * s.keys;
    const float* weight = w + i * s.keys;
    if (!products)
      for (int64_t j = first; j < end; ++j) row[j] = rows::dot(dm + i * mw, v + j * vw, s.head_v);
    const float mean = rows::dot(weight + first, row + first, end - first);
    for (int64_t j = first; j < end; ++j) row[j] = weight[j] * (row[j] - mean);
    std::fill(row, row + first, 0.0f);
    std::fill(row + end, row + s.keys, 0.0f);
    if (products) continue;
    for (int64_t j = first; j < end; ++j) {
      const float scaled = static_cast<float>(s.scale) * row[j];
      if (dq != nullptr) rows::axpy(scaled, k + j * kw, dq + i * qw, s.head_k);
      if (dk != nullptr) rows::axpy(scaled, q + i * qw, dk + j * kw, s.head_k);
      if (dv != nullptr) rows::axpy(weight[j], dm + i * mw, dv + j * vw, s.head_v);
    }
  }
  if (!products) return;
  const Transpose yes = Transpose::yes;
  if (dq != nullptr)
    gemm_one_thread(
        {.m = s.queries, .n = s.head_k, .k = s.keys, .alpha = s.scale, .beta = 1, .ldb = kw, .ldc = qw}, ds,
        k, dq);
  if (dk != nullptr)
    gemm_one_thread({.ta = yes,
                     .m = s.keys,
                     .n = s.head_k,
                     .k = s.queries,
                     .alpha = s.scale,
                     .beta = 1,
                     .ldb = qw,
                     .ldc = kw},
                    ds, q, dk);
  if (dv != nullptr)
    gemm_one_thread({.ta = yes, .m = s.keys, .n = s.head_v, .k = s.queries, .beta = 1, .ldb = mw, .ldc = vw},
                    w, dm, dv);
}

// Calls body(b, h) for every example and head; heads that share keys and values run one after the other.
template <class Body>
void each_head(const Sizes& s, const Body& body) {
  const int64_t shared = s.heads / s.kv_heads, groups = s.batch * s.kv_heads;
  const int64_t grain = rows_per_piece(shared * s.queries * s.keys * (s.head_k + s.head_v) / 4);
  parallel_for(pieces_of(groups, grain), [&](int64_t piece) {
    for (int64_t g = piece * grain; g < std::min(groups, (piece + 1) * grain); ++g)
      for (int64_t h = 0; h < shared; ++h) body(g / s.kv_heads, g % s.kv_heads * shared + h, g);
  });
}

void forward_fast(const Sizes& s, const float* q, const float* k, const float* v, float* w, float* m) {
  each_head(s, [&](int64_t b, int64_t h, int64_t) {
    forward_head(s, b, q + s.q_at(b, h), k + s.k_at(b, h), v + s.v_at(b, h), w + s.w_at(b, h),
                 m + s.m_at(b, h));
  });
}

void backward_fast(const Sizes& s, const float* q, const float* k, const float* v, const float* w,
                   const float* dm, float* dq, float* dk, float* dv, float* ds) {
  const auto shift = [](float* p, int64_t by) { return p == nullptr ? nullptr : p + by; };
  each_head(s, [&](int64_t b, int64_t h, int64_t group) {
    backward_head(s, b, q + s.q_at(b, h), k + s.k_at(b, h), v + s.v_at(b, h), w + s.w_at(b, h),
                  dm + s.m_at(b, h), shift(dq, s.q_at(b, h)), shift(dk, s.k_at(b, h)),
                  shift(dv, s.v_at(b, h)), ds + group * s.queries * s.keys);
  });
}

// ---- what a trace shows: the same scores before and after the mask
// ---------------------------------------------

template <class T>
void name_scores(Tape& tape, const Sizes& s, const T* q, const T* k) {
  const Shape shape{s.batch, s.heads, s.queries, s.keys};
  const Tensor scores = tape.arena().tensor(shape, tape.dtype()),
               masked = tape.arena().tensor(shape, tape.dtype());
  for (int64_t b = 0; b < s.batch; ++b)
    for (int64_t h = 0; h < s.heads; ++h)
      for (int64_t i = 0; i < s.queries; ++i)
        for (int64_t j = 0; j < s.keys; ++j) {
          T score = 0;
          for (int64_t d = 0; d < s.head_k; ++d)
            score += q[s.q_at(b, h) + i * s.q_width() + d] * k[s.k_at(b, h) + j * s.k_width() + d];
          const int64_t at = s.w_at(b, h) + i * s.keys + j;
          const bool visible = j >= s.visible.first(i, s.padding(b)) && j < s.visible.end(i);
          scores.as<T>()[at] = score * static_cast<T>(s.scale);
          masked.as<T>()[at] = visible ? scores.as<T>()[at] : -std::numeric_limits<T>::infinity();
        }
  tape.name("scores", scores);
  tape.name("masked_scores", masked);
}

Sizes sizes_of(const Var& q, const Var& k, const Var& v, const AttentionOptions& options, const Var& pad) {
  const int64_t kv_heads = options.kv_heads == 0 ? options.heads : options.kv_heads;
  const auto rank3 = [](const char* name, const Var& x) {
    if (x.shape().rank() != 3) shape_error("attention", name, x.shape(), "[B, T, heads·width]");
  };
  rank3("q", q), rank3("k", k), rank3("v", v);
  if (options.heads < 1 || kv_heads < 1 || options.heads % kv_heads != 0 || q.cols() % options.heads != 0)
    shape_error("attention", "q", q.shape(), std::to_string(options.heads) + " heads in equal groups");
  const int64_t head_k = q.cols() / options.heads, head_v = v.cols() / kv_heads;
  require_shape("attention", "k", k.shape(), {q.dim(0), k.dim(1), kv_heads * head_k});
  require_shape("attention", "v", v.shape(), {q.dim(0), k.dim(1), kv_heads * head_v});
  if (q.dim(1) > k.dim(1)) shape_error("attention", "q", q.shape(), "no more queries than keys");
  if (pad.exists()) require_shape("attention", "pad", pad.shape(), {q.dim(0)});
  const double scale = options.scale != 0 ? options.scale : 1 / std::sqrt(static_cast<double>(head_k));
#if defined(TRIL_BREAK_SCALE)
  const double used = scale * 0 + 1;
#else
  const double used = scale;
#endif
  return {q.dim(0),
          q.dim(1),
          k.dim(1),
          options.heads,
          kv_heads,
          head_k,
          head_v,
          used,
          {options.causal, q.dim(1), k.dim(1)},
          pad.exists() ? pad.v<int32_t>() : nullptr};
}

}  // namespace

Var attention(Tape& tape, Var q, Var k, Var v, const AttentionOptions& options, Var pad) {
  const Sizes s = sizes_of(q, k, v, options, pad);
  const bool wants = q.wants_grad() || k.wants_grad() || v.wants_grad();
  const Tensor weights = tape.arena().tensor({s.batch, s.heads, s.queries, s.keys}, tape.dtype());
  Var messages = tape.make({s.batch, s.queries, s.m_width()}, wants);
  with_real(tape.dtype(), [&](auto zero) {
    using T = decltype(zero);
    if (tape.tracing()) name_scores(tape, s, q.v<T>(), k.v<T>());
    if constexpr (std::is_same_v<T, float>) {
      if (tape.fast()) {
        forward_fast(s, q.v<T>(), k.v<T>(), v.v<T>(), weights.as<T>(), messages.v<T>());
        const Tensor ds = wants && tape.recording()
                              ? tape.arena().tensor({s.batch, s.kv_heads, s.queries, s.keys}, DType::f32)
                              : Tensor{};
        if (wants)
          tape.on_backward([=] {
            backward_fast(s, q.v<T>(), k.v<T>(), v.v<T>(), weights.as<T>(), messages.g<T>(), q.g<T>(),
                          k.g<T>(), v.g<T>(), ds.as<T>());
          });
        return;
      }
    }
    forward(s, q.v<T>(), k.v<T>(), v.v<T>(), weights.as<T>(), messages.v<T>());
    if (wants)
      tape.on_backward([=] {
        backward(s, q.v<T>(), k.v<T>(), v.v<T>(), weights.as<T>(), messages.g<T>(), q.g<T>(), k.g<T>(),
                 v.g<T>());
      });
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
          return attention(tape, in[0], in[1], in[2], options, in.size() > 3 ? in[3] : Var());
        },
    .cases = {{{{0, 3, 4}, {0, 3, 4}, {0, 3, 4}, {}}},
              {{{1, 1, 1}, {1, 1, 1}, {1, 1, 1}, {}}},
              {{{2, 5, 6}, {2, 5, 6}, {2, 5, 6}, {2}}, {}, 5},
              {{{3, 1, 5}, {3, 7, 5}, {3, 7, 3}, {3}}, {}, 7},
              {{{2, 4, 8}, {2, 4, 4}, {2, 4, 6}, {}}, {{"heads", 4}, {"kv_heads", 2}}},
              {{{1, 3, 6}, {1, 5, 6}, {1, 5, 6}, {1}}, {{"heads", 2}}, 5},
              {{{2, 4, 6}, {2, 4, 6}, {2, 4, 6}, {}}, {{"heads", 2}, {"causal", 0}}},
              {{{1, 17, 64}, {1, 19, 64}, {1, 19, 64}, {1}}, {{"heads", 1}}, 19}}};

}  // namespace tril
