// One query's attention with narrow heads, several of which lie side by side in a vector: shared by the loops
// over many queries (attention_narrow.cc) and by a token at a time (model/narrow_step.cc). Compiled once for
// each instruction set, so it is included by such files alone.
#include <cstdint>
#include <limits>

#include "tril/ops/rows_inl.h"

#if defined(TRIL_OPS_ATTENTION_NARROW_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef TRIL_OPS_ATTENTION_NARROW_INL_H_
#undef TRIL_OPS_ATTENTION_NARROW_INL_H_
#else
#define TRIL_OPS_ATTENTION_NARROW_INL_H_
#endif

HWY_BEFORE_NAMESPACE();
namespace tril::rows::HWY_NAMESPACE {

constexpr int64_t kMostNarrowKeys = 64;
constexpr size_t kMostLanes = HWY_MAX_BYTES / sizeof(float);

#if HWY_TARGET != HWY_SCALAR  // one lane holds no head

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

// What one query of all heads in a vector finds. `row` has its weights in the end, four keys to a vector,
// which are still to be multiplied by `share`.
struct Messages {
  V message, share;
};

/// The query, scaled, against `count` keys whose rows and values' rows begin `distance` apart.
template <int kHead>
HWY_INLINE Messages attend(V query, const float* keys, const float* values, int64_t distance, int64_t count,
                           float* row) {
  const D d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d)), fours = (count + 3) / 4;
  const V none = hn::Set(d, -std::numeric_limits<float>::infinity()), zero = hn::Zero(d);
  const V no_number = hn::Set(d, std::numeric_limits<float>::quiet_NaN());
  V top = none, sum = zero, message = zero;
  auto nan = hn::IsNaN(none);  // the exponential below makes 0 of a NaN
  for (int64_t f = 0; f < fours; ++f) {
    const V scores = four_dots<kHead>(query, keys + 4 * f * distance, distance, count - 4 * f, none);
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
    const float* from = values + 4 * f * distance;
    each_of_four(weights, count - 4 * f, [&](int64_t j, V weight) {
      message = hn::MulAdd(weight, hn::LoadU(d, from + j * distance), message);
    });
  }
  sum = block_sum(hn::IfThenElse(nan, no_number, sum));
  const V share = hn::IfThenZeroElse(hn::Eq(sum, zero), hn::Div(hn::Set(d, 1), sum));
  return {hn::Mul(message, share), share};
}
#endif

}  // namespace tril::rows::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // include guard, once for each target
