#include "tril/ops/attention_narrow.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "tril/ops/attention_narrow.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
//
#include "tril/ops/attention_narrow_inl.h"

HWY_BEFORE_NAMESPACE();
namespace tril::rows::HWY_NAMESPACE {

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

template <int kHead>
HWY_INLINE void forward(const NarrowAttention& a, const float* q, const float* k, const float* v, float* kept,
                        float* m) {
  const D d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  const V scale = hn::Set(d, a.scale);
  HWY_ALIGN float row[kMostNarrowKeys / 4 * kMostLanes];
  for (int64_t c = 0; c < a.width; c += lanes)
    for (int64_t i = 0; i < a.queries; ++i) {
      const int64_t first = a.visible.first(i, a.pad), count = a.visible.end(i) - first;
      const int64_t start = first * a.width + c;
      const V query = hn::Mul(hn::LoadU(d, q + i * a.width + c), scale);
      const Messages made = attend<kHead>(query, k + start, v + start, a.width, count, row);
      hn::StoreU(made.message, d, m + i * a.width + c);
      if (kept == nullptr) continue;
      float* to = kept + place_of(a, c, i, 0);
      for (int64_t f = 0; 4 * f < count; ++f)
        hn::StoreU(hn::Mul(hn::Load(d, row + f * lanes), made.share), d, to + f * lanes);
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
