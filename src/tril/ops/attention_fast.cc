#include "tril/ops/attention_fast.h"

#include <algorithm>
#include <limits>
#include <vector>

#include "tril/base/threads.h"
#include "tril/ops/attention_narrow.h"
#include "tril/ops/gemm.h"
#include "tril/ops/rows.h"
#include "tril/ops/small_product.h"

namespace tril::attention_fast {
namespace {

using Layout = AttentionLayout;
using Head = AttentionHead;

#if defined(TRIL_BREAK_SOFTMAX_AXIS)
// For a test that must fail: each column of one head's weights is divided by its own sum.
void weigh_columns(int64_t queries, int64_t keys, float* weights) {
  for (int64_t j = 0; j < keys; ++j) {
    float sum = 0;
    for (int64_t i = 0; i < queries; ++i) sum += weights[i * keys + j];
    for (int64_t i = 0; i < queries && sum > 0; ++i) weights[i * keys + j] /= sum;
  }
}
#endif

enum class Way : uint8_t { rows, small, library };

// Products multiply invisible places by zero, and 0 · NaN is NaN: where anything is not finite the loops over
// rows, which never read them, are used. Our own products skip what the mask hides and cost no library's
// call: a step of TinyGPT (8 keys) takes 137 µs with them and 150 µs without; at 256 keys the library is
// ahead.
Way way_of(const Layout& s, const Head& at, const float* q, const float* k, const float* v) {
  constexpr int64_t kFewQueries = 4, kManyKeys = 64;
  if (at.queries < kFewQueries || !rows::all_finite(q, at.queries, s.head_k, s.q_width()) ||
      !rows::all_finite(k, at.keys, s.head_k, s.k_width()) ||
      !rows::all_finite(v, at.keys, s.head_v, s.v_width()))
    return Way::rows;
  return at.keys > kManyKeys ? Way::library : Way::small;
}

// The scores of one head become its weights, in place.
void weigh(const Head& at, float* weights) {
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

/// x's transpose, in room that the thread keeps.
const float* turned(const float* x, int64_t rows, int64_t cols, int64_t distance) {
  static thread_local std::vector<float> room;
  if (room.size() < static_cast<size_t>(rows * cols)) room.resize(static_cast<size_t>(rows * cols));
  transpose(x, rows, cols, distance, room.data());
  return room.data();
}

// ---- the three products of one head, each by blocks of rows with what the mask leaves them

constexpr int64_t kBlock = 8;  // rows

/// scores or their gradients: out[i, j] = alpha Σ_d x[i, d] y[j, d], for the j that some row of i's block
/// sees.
void meet(const Head& at, int64_t depth, const float* x, int64_t x_row, const float* y, int64_t y_row,
          float alpha, float* out) {
  const float* across = turned(y, at.keys, depth, y_row);
  for (int64_t i = 0; i < at.queries; i += kBlock) {
    SmallProduct p{
        .m = std::min(kBlock, at.queries - i), .k = depth, .a_row = x_row, .b_row = at.keys, .alpha = alpha};
    p.n = at.end(i + p.m - 1), p.c_row = at.keys;
    small_product(p, x + i * x_row, across, out + i * at.keys);
  }
}

/// out[i, d] (+)= alpha Σ_j w[i, j] y[j, d]
void gather(const Head& at, int64_t width, const float* w, const float* y, int64_t y_row, float alpha,
            bool add, float* out, int64_t out_row) {
  for (int64_t i = 0; i < at.queries; i += kBlock) {
    SmallProduct p{.m = std::min(kBlock, at.queries - i), .n = width, .a_row = at.keys, .b_row = y_row};
    p.k = at.end(i + p.m - 1), p.c_row = out_row, p.alpha = alpha, p.add = add;
#if defined(TRIL_BREAK_MESSAGES)
    if (!add) --p.k;
#endif
    small_product(p, w + i * at.keys, y, out + i * out_row);
  }
}

/// out[j, d] += alpha Σ_i w[i, j] x[i, d], over the i that see some j of the block.
void scatter(const Head& at, int64_t width, const float* w, const float* x, int64_t x_row, float alpha,
             float* out, int64_t out_row) {
  for (int64_t j = 0, from = 0; j < at.keys; j += kBlock) {
    while (from < at.queries && at.end(from) <= j) ++from;
    SmallProduct p{.m = std::min(kBlock, at.keys - j), .n = width, .k = at.queries - from, .a_row = 1};
    p.a_col = at.keys, p.b_row = x_row, p.c_row = out_row, p.alpha = alpha, p.add = true;
    small_product(p, w + from * at.keys + j, x + from * x_row, out + j * out_row);
  }
}

// ---- one head. The pointers stand at its own first numbers.

void forward_rows(const Layout& s, const Head& at, const DropoutMask& mask, const float* q, const float* k,
                  const float* v, float* w, float* m, float* room) {
  const int64_t qw = s.q_width(), kw = s.k_width(), vw = s.v_width(), mw = s.m_width();
  for (int64_t i = 0; i < at.queries; ++i) {
    const int64_t first = at.first(i);
    rows::dots(q + i * qw, k + first * kw, kw, at.end(i) - first, s.head_k, static_cast<float>(s.scale),
               w + i * at.keys + first);
  }
  weigh(at, w);
  const float* used = used_weights(at, mask, w, room);
  for (int64_t i = 0; i < at.queries; ++i) {
    const int64_t first = at.first(i);
    std::fill(m + i * mw, m + i * mw + s.head_v, 0.0f);
    rows::combine(used + i * at.keys + first, v + first * vw, vw, at.end(i) - first, s.head_v, m + i * mw);
  }
}

void forward_head(const Layout& s, const Head& at, const DropoutMask& mask, const float* q, const float* k,
                  const float* v, float* w, float* m, float* room) {
  const int64_t qw = s.q_width(), kw = s.k_width(), vw = s.v_width(), mw = s.m_width();
  const Way way = way_of(s, at, q, k, v);
  if (way == Way::rows) return forward_rows(s, at, mask, q, k, v, w, m, room);
  if (way == Way::small) {
    meet(at, s.head_k, q, qw, k, kw, static_cast<float>(s.scale), w);
  } else {
    const Transpose yes = Transpose::yes;
    gemm_one_thread(
        {.tb = yes, .m = at.queries, .n = at.keys, .k = s.head_k, .alpha = s.scale, .lda = qw, .ldb = kw}, q,
        k, w);
  }
  weigh(at, w);
  const float* used = used_weights(at, mask, w, room);
  if (way == Way::small) return gather(at, s.head_v, used, v, vw, 1, false, m, mw);
  gemm_one_thread({.m = at.queries, .n = s.head_v, .k = at.keys, .ldb = vw, .ldc = mw}, used, v, m);
}

/// Row i of ds: the gradient of the weights becomes that of the scores before scaling.
void bend_row(const Head& at, const DropoutMask& mask, int64_t i, const float* w, float* ds) {
  const int64_t first = at.first(i), end = at.end(i), count = end - first;
  float* row = ds + i * at.keys;
  const float* weight = w + i * at.keys;
  if (mask.drops()) drop_row(at, mask, i, row, row);
  const float mean = rows::dot(weight + first, row + first, count);
  for (int64_t j = first; j < end; ++j) row[j] = weight[j] * (row[j] - mean);
  std::fill(row, row + first, 0.0f);
  std::fill(row + end, row + at.keys, 0.0f);
}

void backward_rows(const Layout& s, const Head& at, const DropoutMask& mask, const float* q, const float* k,
                   const float* v, const float* w, const float* dm, float* dq, float* dk, float* dv,
                   float* ds) {
  const int64_t qw = s.q_width(), kw = s.k_width(), vw = s.v_width(), mw = s.m_width();
  for (int64_t i = 0; i < at.queries; ++i) {
    const int64_t first = at.first(i), count = at.end(i) - first;
    float* row = ds + i * at.keys;
    const float* weight = w + i * at.keys;
    if (dv != nullptr) {
      if (mask.drops()) drop_row(at, mask, i, weight, row);
      rows::spread((mask.drops() ? row : weight) + first, dm + i * mw, vw, count, s.head_v, dv + first * vw);
    }
    rows::dots(dm + i * mw, v + first * vw, vw, count, s.head_v, 1, row + first);
    bend_row(at, mask, i, w, ds);
    rows::scale(row + first, static_cast<float>(s.scale), row + first, count);
    if (dq != nullptr) rows::combine(row + first, k + first * kw, kw, count, s.head_k, dq + i * qw);
    if (dk != nullptr) rows::spread(row + first, q + i * qw, kw, count, s.head_k, dk + first * kw);
  }
}

// ds [Tq, Tk] is scratch.
void backward_head(const Layout& s, const Head& at, const DropoutMask& mask, const float* q, const float* k,
                   const float* v, const float* w, const float* dm, float* dq, float* dk, float* dv,
                   float* ds) {
  const int64_t qw = s.q_width(), kw = s.k_width(), vw = s.v_width(), mw = s.m_width();
  const int64_t n = at.queries, keys = at.keys;
  const Transpose yes = Transpose::yes;
  const Way way = way_of(s, at, q, k, v);
  if (way == Way::rows) return backward_rows(s, at, mask, q, k, v, w, dm, dq, dk, dv, ds);
  if (way == Way::small) {
    const float scale = static_cast<float>(s.scale);
    if (dv != nullptr) scatter(at, s.head_v, used_weights(at, mask, w, ds), dm, mw, 1, dv, vw);
    meet(at, s.head_v, dm, mw, v, vw, 1, ds);
    for (int64_t i = 0; i < n; ++i) bend_row(at, mask, i, w, ds);
    if (dq != nullptr) gather(at, s.head_k, ds, k, kw, scale, true, dq, qw);
    if (dk != nullptr) scatter(at, s.head_k, ds, q, qw, scale, dk, kw);
    return;
  }
  if (dv != nullptr)
    gemm_one_thread({.ta = yes, .m = keys, .n = s.head_v, .k = n, .beta = 1, .ldb = mw, .ldc = vw},
                    used_weights(at, mask, w, ds), dm, dv);
  gemm_one_thread({.tb = yes, .m = n, .n = keys, .k = s.head_v, .lda = mw, .ldb = vw}, dm, v, ds);
  for (int64_t i = 0; i < n; ++i) bend_row(at, mask, i, w, ds);
  if (dq != nullptr)
    gemm_one_thread({.m = n, .n = s.head_k, .k = keys, .alpha = s.scale, .beta = 1, .ldb = kw, .ldc = qw}, ds,
                    k, dq);
  if (dk != nullptr)
    gemm_one_thread(
        {.ta = yes, .m = keys, .n = s.head_k, .k = n, .alpha = s.scale, .beta = 1, .ldb = qw, .ldc = kw}, ds,
        q, dk);
}

// Calls body(head, scratch) for every example and head. A piece is some examples' groups of heads that share
// keys, so that no two pieces add to the same place; the heads of a group run one after the other and share
// scratch, which is where their [Tq, Tk] numbers may lie.
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

// ---- short sequences of narrow heads, an example at a time

bool is_narrow(const Layout& s) {
#if defined(TRIL_BREAK_ATTENTION_SHIFT) || defined(TRIL_BREAK_SOFTMAX_AXIS) || defined(TRIL_BREAK_MESSAGES)
  return s.batch < 0;  // the broken lines stand in the other way
#else
  return s.shared() == 1 && s.head_k == s.head_v &&
         attention_is_narrow(s.head_k, s.q_width(), s.longest_keys());
#endif
}

NarrowAttention narrow(const Layout& s, const Head& at) {
  return {at.queries, at.keys, s.q_width(), s.head_k, at.pad, at.visible, static_cast<float>(s.scale)};
}

/// body(the example's first head, where its kept weights begin)
template <class Body>
void each_example(const Layout& s, const Body& body) {
  const int64_t pairs = s.batch == 0 ? 0 : s.pairs() / s.batch;
  const int64_t grain = rows_per_piece(pairs * s.q_width());
  parallel_for(pieces_of(s.batch, grain), [&](int64_t piece) {
    for (int64_t b = piece * grain; b < std::min(s.batch, (piece + 1) * grain); ++b) {
      const Head at = s.head(b, 0);
      body(at, attention_narrow_place(s.pairs_before(b), at.q / s.q_width(), s.q_width()));
    }
  });
}

}  // namespace

void forward(const Layout& s, const DropoutMask& mask, const float* q, const float* k, const float* v,
             float* w, float* m, float* scratch) {
  if (!mask.drops() && is_narrow(s))
    return each_example(s, [&](const Head& at, int64_t place) {
      attention_narrow(narrow(s, at), q + at.q, k + at.k, v + at.v, w + place, m + at.m);
    });
  each_head(s, [&](const Head& at, int64_t place) {
    forward_head(s, at, mask, q + at.q, k + at.k, v + at.v, w + at.w, m + at.m,
                 scratch == nullptr ? nullptr : scratch + place);
  });
}

void backward(const Layout& s, const DropoutMask& mask, const float* q, const float* k, const float* v,
              const float* w, const float* dm, float* dq, float* dk, float* dv, float* scratch) {
  const auto shift = [](float* p, int64_t by) { return p == nullptr ? nullptr : p + by; };
  if (!mask.drops() && is_narrow(s))
    return each_example(s, [&](const Head& at, int64_t place) {
      attention_narrow_backward(narrow(s, at), q + at.q, k + at.k, v + at.v, w + place, dm + at.m,
                                shift(dq, at.q), shift(dk, at.k), shift(dv, at.v));
    });
  each_head(s, [&](const Head& at, int64_t place) {
    backward_head(s, at, mask, q + at.q, k + at.k, v + at.v, w + at.w, dm + at.m, shift(dq, at.q),
                  shift(dk, at.k), shift(dv, at.v), scratch + place);
  });
}

int64_t kept_numbers(const Layout& s, const DropoutMask& mask) {
  if (mask.drops() || !is_narrow(s)) return s.pairs() * s.heads;
  const int64_t queries = s.first_row != nullptr ? s.first_row[s.batch] : s.batch * s.queries;
  return attention_narrow_place(s.pairs(), queries, s.q_width());
}

Tensor by_head(Arena& arena, const Layout& s, const DropoutMask& mask, const Tensor& w) {
  const Shape shape{s.batch, s.heads, s.queries, s.keys};
  if (mask.drops() || !is_narrow(s)) return {shape, w.dtype, w.data};
  const Tensor out = arena.zeros(shape, DType::f32);
  each_example(s, [&](const Head& example, int64_t place) {
    for (int64_t h = 0; h < s.heads; ++h)
      for (int64_t i = 0; i < example.queries; ++i)
        for (int64_t j = example.first(i); j < example.end(i); ++j)
          out.as<float>()[example.w + (h * example.queries + i) * example.keys + j] =
              attention_narrow_weight(narrow(s, example), w.as<float>() + place, h, i, j);
  });
  return out;
}

}  // namespace tril::attention_fast
