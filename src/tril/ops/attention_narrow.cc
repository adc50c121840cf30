#include "tril/ops/attention_narrow.h"

#include <limits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "tril/ops/attention_narrow.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
//
#include "tril/ops/rows_inl.h"

HWY_BEFORE_NAMESPACE();
namespace tril::rows::HWY_NAMESPACE {

constexpr int64_t kMostNarrowKeys = 64;
constexpr size_t kMostLanes = HWY_MAX_BYTES / sizeof(float);

#if HWY_TARGET == HWY_SCALAR  // one lane holds no head
bool IsNarrow(int64_t, int64_t, int64_t) {
  return false;
}
float NarrowWeight(const NarrowAttention&, const float*, int64_t, int64_t, int64_t) {
  return 0;
}
void Narrow(const NarrowAttention&, const float*, const float*, const float*, float*, float*) {}
void NarrowBackward(const NarrowAttention&, const float*, const float*, const float*, const float*,
                    const float*, float*, float*, float*) {}
#else

bool IsNarrow(int64_t head, int64_t width, int64_t keys) {
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(D()));
  const bool fits = head == 4 || (head == 8 && lanes >= 8) || (head == 16 && lanes == 16);
  return fits && width % lanes == 0 && keys <= kMostNarrowKeys;
}

// Numbers of four keys for each head of a vector: a block of four lanes has them side by side, and where a
// head is wider than a block, each of its blocks has all four. `kept` has one vector for four keys of one
// query.
HWY_INLINE int64_t place_of(const NarrowAttention& a, int64_t column, int64_t i, int64_t four) {
  const int64_t fours = (a.keys + 3) / 4, lanes = static_cast<int64_t>(hn::Lanes(D()));
  return (column / lanes * a.queries + i) * fours * lanes + four * lanes;
}

float NarrowWeight(const NarrowAttention& a, const float* kept, int64_t h, int64_t i, int64_t j) {
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(D())), column = h * a.head;
  const int64_t from_first = j - a.visible.first(i, a.pad);
  return kept[place_of(a, column, i, from_first / 4) + column % lanes + from_first % 4];
}

// The sums over each head's lanes of four products.
template <int kHead>
HWY_INLINE V four_head_sums(V p0, V p1, V p2, V p3) {
  const D d;
  const hn::RepartitionToWide<D> wide;
  const auto p01 = hn::BitCast(wide, hn::Add(hn::InterleaveLower(d, p0, p1), hn::InterleaveUpper(d, p0, p1)));
  const auto p23 = hn::BitCast(wide, hn::Add(hn::InterleaveLower(d, p2, p3), hn::InterleaveUpper(d, p2, p3)));
  V sums = hn::Add(hn::BitCast(d, hn::InterleaveLower(wide, p01, p23)),
                   hn::BitCast(d, hn::InterleaveUpper(wide, p01, p23)));
  if constexpr (kHead >= 8) sums = hn::Add(sums, hn::SwapAdjacentBlocks(sums));
  if constexpr (kHead >= 16) sums = hn::Add(sums, hn::ReverseBlocks(d, sums));
  return sums;
}

// Of the four in each block, in all four lanes.
HWY_INLINE V block_sum(V v) {
  v = hn::Add(v, hn::Shuffle2301(v));
  return hn::Add(v, hn::Shuffle1032(v));
}
HWY_INLINE V block_max(V v) {
  v = hn::Max(v, hn::Shuffle2301(v));
  return hn::Max(v, hn::Shuffle1032(v));
}

// x's dot products with four rows of y that begin `distance` apart; of `count` < 4 the others are
// `otherwise`.
template <int kHead>
HWY_INLINE V four_dots(V x, const float* y, int64_t distance, int64_t count, V otherwise) {
  const D d;
  const V p0 = hn::Mul(x, hn::LoadU(d, y));
  if (count >= 4)
    return four_head_sums<kHead>(p0, hn::Mul(x, hn::LoadU(d, y + distance)),
                                 hn::Mul(x, hn::LoadU(d, y + 2 * distance)),
                                 hn::Mul(x, hn::LoadU(d, y + 3 * distance)));
  const V none = hn::Zero(d), p1 = count > 1 ? hn::Mul(x, hn::LoadU(d, y + distance)) : none,
          p2 = count > 2 ? hn::Mul(x, hn::LoadU(d, y + 2 * distance)) : none;
  const V sums = four_head_sums<kHead>(p0, p1, p2, none);
  const auto lane = hn::And(hn::Iota(hn::RebindToSigned<D>(), 0), hn::Set(hn::RebindToSigned<D>(), 3));
  const auto inside = hn::Lt(lane, hn::Set(hn::RebindToSigned<D>(), static_cast<int32_t>(count)));
  return hn::IfThenElse(hn::RebindMask(d, inside), sums, otherwise);
}

// body(j, weight of key j in its heads' lanes) for up to four keys.
template <class Body>
HWY_INLINE void each_of_four(V four, int64_t count, const Body& body) {
  body(0, hn::Broadcast<0>(four));
  if (count > 1) body(1, hn::Broadcast<1>(four));
  if (count > 2) body(2, hn::Broadcast<2>(four));
  if (count > 3) body(3, hn::Broadcast<3>(four));
}

template <int kHead>
HWY_INLINE void forward(const NarrowAttention& a, const float* q, const float* k, const float* v, float* kept,
                        float* m) {
  const D d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  const V none = hn::Set(d, -std::numeric_limits<float>::infinity()), scale = hn::Set(d, a.scale);
  const V no_number = hn::Set(d, std::numeric_limits<float>::quiet_NaN()), zero = hn::Zero(d);
  HWY_ALIGN float row[kMostNarrowKeys / 4 * kMostLanes];
  for (int64_t c = 0; c < a.width; c += lanes)
    for (int64_t i = 0; i < a.queries; ++i) {
      const int64_t first = a.visible.first(i, a.pad), count = a.visible.end(i) - first;
      const int64_t start = first * a.width + c, fours = (count + 3) / 4;
      const V query = hn::Mul(hn::LoadU(d, q + i * a.width + c), scale);
      V top = none, sum = zero, message = zero;
      auto nan = hn::IsNaN(none);  // the exponential below makes 0 of a NaN
      for (int64_t f = 0; f < fours; ++f) {
        const V scores = four_dots<kHead>(query, k + start + 4 * f * a.width, a.width, count - 4 * f, none);
        top = hn::Max(top, scores);
        nan = hn::Or(nan, hn::IsNaN(scores));
        hn::Store(scores, d, row + f * lanes);
      }
      top = block_max(top);
      top = hn::IfThenZeroElse(hn::Eq(top, none), top);
      for (int64_t f = 0; f < fours; ++f) {
        const V weights = hn::Exp(d, hn::Sub(hn::Load(d, row + f * lanes), top));
        sum = hn::Add(sum, weights);
        hn::Store(weights, d, row + f * lanes);
        const float* values = v + start + 4 * f * a.width;
        each_of_four(weights, count - 4 * f, [&](int64_t j, V weight) {
          message = hn::MulAdd(weight, hn::LoadU(d, values + j * a.width), message);
        });
      }
      sum = block_sum(hn::IfThenElse(nan, no_number, sum));
      const V share = hn::IfThenZeroElse(hn::Eq(sum, zero), hn::Div(hn::Set(d, 1), sum));
      hn::StoreU(hn::Mul(message, share), d, m + i * a.width + c);
      if (kept == nullptr) continue;
      float* to = kept + place_of(a, c, i, 0);
      for (int64_t f = 0; f < fours; ++f)
        hn::StoreU(hn::Mul(hn::Load(d, row + f * lanes), share), d, to + f * lanes);
    }
}

template <int kHead>
HWY_INLINE void backward(const NarrowAttention& a, const float* q, const float* k, const float* v,
                         const float* kept, const float* dm, float* dq, float* dk, float* dv) {
  const D d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  const V scale = hn::Set(d, a.scale), zero = hn::Zero(d);
  HWY_ALIGN float row[kMostNarrowKeys / 4 * kMostLanes];
  const auto add = [&](V x, V y, float* to) { hn::StoreU(hn::MulAdd(x, y, hn::LoadU(d, to)), d, to); };
  for (int64_t c = 0; c < a.width; c += lanes)
    for (int64_t i = 0; i < a.queries; ++i) {
      const int64_t first = a.visible.first(i, a.pad), count = a.visible.end(i) - first;
      const int64_t here = i * a.width + c, start = first * a.width + c, fours = (count + 3) / 4;
      const float* weights = kept + place_of(a, c, i, 0);
      const V up = hn::LoadU(d, dm + here), query = hn::LoadU(d, q + here);
      V mean = zero, sum = zero;
      for (int64_t f = 0; f < fours; ++f) {
        const V e = four_dots<kHead>(up, v + start + 4 * f * a.width, a.width, count - 4 * f, zero);
        mean = hn::MulAdd(hn::LoadU(d, weights + f * lanes), e, mean);
        hn::Store(e, d, row + f * lanes);
      }
      mean = block_sum(mean);
      for (int64_t f = 0; f < fours; ++f) {
        const int64_t there = start + 4 * f * a.width, left = count - 4 * f;
        const V weight = hn::LoadU(d, weights + f * lanes);
        const V ds = hn::Mul(hn::Mul(weight, scale), hn::Sub(hn::Load(d, row + f * lanes), mean));
        each_of_four(ds, left, [&](int64_t j, V one) {
          const int64_t at = there + j * a.width;
          sum = hn::MulAdd(one, hn::LoadU(d, k + at), sum);
          if (dk != nullptr) add(one, query, dk + at);
        });
        if (dv != nullptr)
          each_of_four(weight, left, [&](int64_t j, V one) { add(one, up, dv + there + j * a.width); });
      }
      if (dq != nullptr) hn::StoreU(hn::Add(hn::LoadU(d, dq + here), sum), d, dq + here);
    }
}

void Narrow(const NarrowAttention& a, const float* q, const float* k, const float* v, float* w, float* m) {
  if (a.head == 4) return forward<4>(a, q, k, v, w, m);
  if (a.head == 8) return forward<8>(a, q, k, v, w, m);
  forward<16>(a, q, k, v, w, m);
}

void NarrowBackward(const NarrowAttention& a, const float* q, const float* k, const float* v, const float* w,
                    const float* dm, float* dq, float* dk, float* dv) {
  if (a.head == 4) return backward<4>(a, q, k, v, w, dm, dq, dk, dv);
  if (a.head == 8) return backward<8>(a, q, k, v, w, dm, dq, dk, dv);
  backward<16>(a, q, k, v, w, dm, dq, dk, dv);
}
#endif

}  // namespace tril::rows::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tril {
namespace rows {
HWY_EXPORT(IsNarrow);
HWY_EXPORT(NarrowWeight);
HWY_EXPORT(Narrow);
HWY_EXPORT(NarrowBackward);
}  // namespace rows

bool attention_is_narrow(int64_t head, int64_t width, int64_t keys) {
  using namespace rows;  // where the dispatch table stands
  return HWY_DYNAMIC_DISPATCH(IsNarrow)(head, width, keys);
}

float attention_narrow_weight(const NarrowAttention& a, const float* w, int64_t h, int64_t i, int64_t j) {
  using namespace rows;
  return HWY_DYNAMIC_DISPATCH(NarrowWeight)(a, w, h, i, j);
}

void attention_narrow(const NarrowAttention& a, const float* q, const float* k, const float* v, float* w,
                      float* m) {
  using namespace rows;
  HWY_DYNAMIC_DISPATCH(Narrow)(a, q, k, v, w, m);
}

void attention_narrow_backward(const NarrowAttention& a, const float* q, const float* k, const float* v,
                               const float* w, const float* dm, float* dq, float* dk, float* dv) {
  using namespace rows;
  HWY_DYNAMIC_DISPATCH(NarrowBackward)(a, q, k, v, w, dm, dq, dk, dv);
}

}  // namespace tril
#endif
