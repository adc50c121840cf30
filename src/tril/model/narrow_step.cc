#include "tril/model/narrow_step.h"

#include <cmath>
#include <string>

#include "tril/ops/attention_narrow.h"
#include "tril/ops/mask.h"
#include "tril/ops/rows.h"
#include "tril/ops/rows_maps.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "tril/model/narrow_step.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
//
#include "tril/ops/attention_narrow_inl.h"

HWY_BEFORE_NAMESPACE();
namespace tril::rows::HWY_NAMESPACE {

constexpr int64_t kMostWidth = 64, kMostHidden = 4 * kMostWidth;

#if HWY_TARGET == HWY_SCALAR || HWY_HAVE_SCALABLE  // the sums below need as many rows as lanes
bool StepFits(int64_t, int64_t, int64_t) {
  return false;
}
void Step(const NarrowDecoder&, const NarrowPlaces&, const float*, const float*, int64_t, float*) {}
#else

constexpr int64_t kLanes = static_cast<int64_t>(hn::MaxLanes(D()));

bool StepFits(int64_t width, int64_t hidden, int64_t vocabulary) {
  return width <= kMostWidth && hidden <= kMostHidden && hidden % kLanes == 0 && vocabulary >= kLanes;
}

// Of a and b, which hold sums for the even and for the odd groups of kApart lanes: the two parts of each, in
// a different group still, are added.
template <int kApart>
HWY_INLINE V join(V a, V b) {
  const D d;
  const hn::RepartitionToWide<D> wide;
  if constexpr (kApart == 1) return hn::Add(hn::OddEven(b, a), hn::Shuffle2301(hn::OddEven(a, b)));
  if constexpr (kApart == 2) {
    const auto wa = hn::BitCast(wide, a), wb = hn::BitCast(wide, b);
    return hn::Add(hn::BitCast(d, hn::OddEven(wb, wa)), hn::Shuffle1032(hn::BitCast(d, hn::OddEven(wa, wb))));
  }
  if constexpr (kApart == 4)
    return hn::Add(hn::OddEvenBlocks(b, a), hn::SwapAdjacentBlocks(hn::OddEvenBlocks(a, b)));
  return hn::Add(hn::ConcatUpperLower(d, b, a), hn::ConcatLowerUpper(d, b, a));
}

// dots() of four rows of one vector. Here the rows are turned, in blocks of four lanes, and not their
// products with x: the same number of instructions, but most of them need not wait for x.
HWY_INLINE V four_dots_of_vectors(const float* w, const float* x) {
  const D d;
  const hn::RepartitionToWide<D> wide;
  const auto pairs = [&](V a, V b) {  // a0 a1 of a, b2 b3 of b
    return hn::BitCast(d, hn::OddEven(hn::BitCast(wide, b), hn::BitCast(wide, a)));
  };
  const V r0 = hn::LoadU(d, w), r1 = hn::LoadU(d, w + kLanes), r2 = hn::LoadU(d, w + 2 * kLanes),
          r3 = hn::LoadU(d, w + 3 * kLanes);
  const V same01 = hn::OddEven(r1, r0), next01 = hn::Shuffle2301(hn::OddEven(r0, r1)),
          same23 = hn::OddEven(r3, r2), next23 = hn::Shuffle2301(hn::OddEven(r2, r3));
  const V of_x = hn::LoadU(d, x), of_next = hn::Shuffle2301(of_x);
  const V near = hn::MulAdd(pairs(next01, next23), of_next, hn::Mul(pairs(same01, same23), of_x));
  const V far = hn::MulAdd(hn::Shuffle1032(pairs(next23, next01)), hn::Shuffle1032(of_next),
                           hn::Mul(hn::Shuffle1032(pairs(same23, same01)), hn::Shuffle1032(of_x)));
  return hn::Add(near, far);
}

// The products of x with kRows rows of a matrix, added up until lane i of each group of kRows has what
// belongs to row i. A row has kVectors vectors, or `vectors` where that is 0.
template <int kRows, int kVectors>
HWY_INLINE V dots(const float* w, const float* x, int64_t vectors) {
  const D d;
  if constexpr (kVectors > 0) vectors = kVectors;
  if constexpr (kRows == 1) {
    V sum = hn::Mul(hn::LoadU(d, w), hn::LoadU(d, x));
    for (int64_t c = 1; c < vectors; ++c)
      sum = hn::MulAdd(hn::LoadU(d, w + c * kLanes), hn::LoadU(d, x + c * kLanes), sum);
    return sum;
  } else if constexpr (kRows == 4 && kVectors == 1) {
    return four_dots_of_vectors(w, x);
  } else {
    constexpr int kHalf = kRows / 2;
    return join<kHalf>(dots<kHalf, kVectors>(w, x, vectors),
                       dots<kHalf, kVectors>(w + kHalf * vectors * kLanes, x, vectors));
  }
}

// y[o] = start[o] + bias[o] + sum_i w[o, i] x[i]; start may be null, and may be y. Where `out` is not whole
// vectors, the last rows are computed with some of those before, first, so that what is read next was written
// at once.
template <int kVectors>
void layer_of(const NarrowLayer& layer, const float* x, int64_t vectors, int64_t out, const float* start,
              float* y) {
  const D d;
  const auto rows_from = [&](int64_t o) {
    V sum = dots<kLanes, kVectors>(layer.weight + o * vectors * kLanes, x, vectors);
    if (layer.bias != nullptr) sum = hn::Add(sum, hn::LoadU(d, layer.bias + o));
    if (start != nullptr) sum = hn::Add(sum, hn::LoadU(d, start + o));
    hn::StoreU(sum, d, y + o);
  };
  if (out % kLanes != 0) rows_from(out - kLanes);
  for (int64_t o = 0; o + kLanes <= out; o += kLanes) rows_from(o);
}

void apply(const NarrowLayer& layer, const float* x, int64_t in, int64_t out, const float* start, float* y) {
  const int64_t vectors = in / kLanes;
  (vectors == 1   ? layer_of<1>
   : vectors == 2 ? layer_of<2>
   : vectors == 4 ? layer_of<4>
                  : layer_of<0>)(layer, x, vectors, out, start, y);
}

HWY_INLINE V load_or(const float* x, int64_t i, float otherwise) {
  return x != nullptr ? hn::LoadU(D(), x + i) : hn::Set(D(), otherwise);
}

// y may be x.
void normalize(const NarrowDecoder& m, const NarrowNorm& norm, const float* x, float* y) {
  const D d;
  const float share = 1 / static_cast<float>(m.width);
  V mean = hn::Zero(d), square = hn::Zero(d);
  if (m.norm == NarrowDecoder::Norm::layer) {
    for (int64_t c = 0; c < m.width; c += kLanes) mean = hn::Add(mean, hn::LoadU(d, x + c));
    mean = hn::Set(d, hn::GetLane(hn::SumOfLanes(d, mean)) * share);
  }
  for (int64_t c = 0; c < m.width; c += kLanes) {
    const V off = hn::Sub(hn::LoadU(d, x + c), mean);
    square = hn::MulAdd(off, off, square);
  }
  const V scale = hn::Set(d, 1 / std::sqrt(hn::GetLane(hn::SumOfLanes(d, square)) * share + m.norm_epsilon));
  for (int64_t c = 0; c < m.width; c += kLanes) {
    const V unit = hn::Mul(hn::Sub(hn::LoadU(d, x + c), mean), scale);
    hn::StoreU(hn::MulAdd(load_or(norm.gain, c, 1), unit, load_or(norm.bias, c, 0)), d, y + c);
  }
}

HWY_INLINE const float* normalized(const NarrowDecoder& m, const NarrowNorm& norm, const float* x, float* y) {
  if (m.norm == NarrowDecoder::Norm::none) return x;
  normalize(m, norm, x, y);
  return y;
}

template <int kHead>
void attend_all(const NarrowDecoder& m, const NarrowBlock& b, int64_t position, const float* q,
                float* messages) {
  const D d;
  const Visible visible{true, 1, position + 1};
  HWY_ALIGN float row[kMostNarrowKeys / 4 * kMostLanes];
  const int64_t first = visible.first(0, 0), count = visible.end(0) - first;
  for (int64_t c = 0; c < m.width; c += kLanes) {
    const V query = hn::Mul(hn::LoadU(d, q + c), hn::Set(d, m.scale));
    const int64_t start = first * m.width + c;
    const Messages made = attend<kHead>(query, b.keys + start, b.values + start, m.width, count, row);
    hn::StoreU(made.message, d, messages + c);
  }
}

// x += attention(in)
HWY_INLINE void attention_part(const NarrowDecoder& m, const NarrowBlock& b, int64_t position,
                               const float* in, float* x) {
  HWY_ALIGN float q[kMostWidth], messages[kMostWidth];
  const int64_t here = position * m.width;
  apply(b.q, in, m.width, m.width, nullptr, q);
  apply(b.k, in, m.width, m.width, nullptr, b.keys + here);
  apply(b.v, in, m.width, m.width, nullptr, b.values + here);
  (m.head == 4 ? attend_all<4> : m.head == 8 ? attend_all<8> : attend_all<16>)(m, b, position, q, messages);
  apply(b.o, messages, m.width, m.width, x, x);
}

// x += feed_forward(in)
HWY_INLINE void feed_forward_part(const NarrowDecoder& m, const NarrowBlock& b, const float* in, float* x) {
  HWY_ALIGN float up[kMostHidden], gate[kMostHidden];
  apply(b.up, in, m.width, m.hidden, nullptr, up);
  if (m.gated) {
    apply(b.gate, in, m.width, m.hidden, nullptr, gate);
    m.activation(gate, gate, m.hidden);
    multiply(gate, up, m.hidden);
  } else {
    m.activation(up, up, m.hidden);
  }
  apply(b.down, up, m.hidden, m.width, x, x);
}

void Step(const NarrowDecoder& m, const NarrowPlaces& at, const float* token, const float* place,
          int64_t position, float* logits) {
  const D d;
  HWY_ALIGN float x[kMostWidth], unit[kMostWidth];
  for (int64_t c = 0; c < m.width; c += kLanes)
    hn::Store(hn::Add(hn::LoadU(d, token + c), load_or(place, c, 0)), d, x + c);
  if (m.embedding_norm) normalized(m, at.embedding_norm, x, x);
  for (int64_t i = 0; i < m.layers; ++i) {
    const NarrowBlock& b = at.blocks[i];
    if (m.pre_norm) {
      attention_part(m, b, position, normalized(m, b.attention_norm, x, unit), x);
      feed_forward_part(m, b, normalized(m, b.mlp_norm, x, unit), x);
    } else {
      attention_part(m, b, position, x, x);
      normalized(m, b.attention_norm, x, x);
      feed_forward_part(m, b, x, x);
      normalized(m, b.mlp_norm, x, x);
    }
  }
  const float* last = m.final_norm ? normalized(m, at.final_norm, x, unit) : x;
  apply(at.head, last, m.width, m.vocabulary, nullptr, logits);
  if (m.softcap > 0) softcap(logits, m.softcap, logits, m.vocabulary);
}
#endif

}  // namespace tril::rows::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tril {
namespace rows {
HWY_EXPORT(StepFits);
HWY_EXPORT(Step);
}  // namespace rows

NarrowDecoder narrow_decoder(const ModelConfig& c) {
  using namespace rows;  // where the dispatch table stands
  const auto is_width = [](int64_t total, int64_t width) { return total == 0 || total == width; };
  const bool own_heads = c.kv_heads == 0 || c.kv_heads == c.heads;
  const bool told = c.position == "learned" || c.position == "none";
  NarrowDecoder m;
  m.fits = c.family == "decoder" && c.mask == "causal" && own_heads && told && !c.qk_norm &&
           c.lora.rank == 0 && is_width(c.d_k, c.d_model) && is_width(c.d_v, c.d_model) &&
           attention_is_narrow(c.d_model / c.heads, c.d_model, c.context) &&
           HWY_DYNAMIC_DISPATCH(StepFits)(c.d_model, c.hidden, c.vocab_size);
  if (!m.fits) return m;
  m.width = c.d_model, m.head = c.d_model / c.heads, m.hidden = c.hidden;
  m.vocabulary = c.vocab_size, m.layers = c.layers;
  m.norm = c.norm == "rms"     ? NarrowDecoder::Norm::rms
           : c.norm == "layer" ? NarrowDecoder::Norm::layer
                               : NarrowDecoder::Norm::none;
  m.pre_norm = c.norm_place == "pre", m.embedding_norm = c.embedding_norm, m.final_norm = c.final_norm;
  m.gated = c.activation == "swiglu";
  m.norm_epsilon = static_cast<float>(c.norm_epsilon);
  m.scale = 1 / std::sqrt(static_cast<float>(m.head));
  m.softcap = static_cast<float>(c.softcap);
  m.activation = m.gated                   ? rows::silu
                 : c.activation == "relu"  ? rows::relu
                 : c.activation == "relu2" ? rows::relu2
                 : c.activation == "gelu"  ? rows::gelu
                                           : rows::gelu_tanh;
  return m;
}

void narrow_step(const NarrowDecoder& decoder, const NarrowPlaces& at, const float* token, const float* place,
                 int64_t position, float* logits) {
  using namespace rows;
  HWY_DYNAMIC_DISPATCH(Step)(decoder, at, token, place, position, logits);
}

}  // namespace tril
#endif
