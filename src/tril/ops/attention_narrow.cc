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
void Narrow(const NarrowAttention&, const float*, const float*, const float*, float*, float*) {}
void NarrowBackward(const NarrowAttention&, const float*, const float*, const float*, const float*,
                    const float*, float*, float*, float*) {}
#else

bool IsNarrow(int64_t head, int64_t width, int64_t keys) {
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(D()));
  const bool fits = head == 4 || (head == 8 && lanes >= 8) || (head == 16 && lanes == 16);
  return fits && width % lanes == 0 && keys <= kMostNarrowKeys;
}

// In every lane the sum over the lanes of its head.
template <int kHead>
HWY_INLINE V head_sum(V v) {
  v = hn::Add(v, hn::Shuffle2301(v));
  v = hn::Add(v, hn::Shuffle1032(v));
  if constexpr (kHead >= 8) v = hn::Add(v, hn::SwapAdjacentBlocks(v));
  if constexpr (kHead >= 16) v = hn::Add(v, hn::ReverseBlocks(D(), v));
  return v;
}

// A number for each head of a vector, stored side by side and spread over the heads' lanes.
class PerHead {
 public:
  explicit PerHead(int64_t head) : part_(hn::Lanes(D()) / static_cast<size_t>(head)) {
    HWY_ALIGN int32_t lanes[kMostLanes] = {};
    const auto size = static_cast<size_t>(head), all = hn::Lanes(D());
    for (size_t i = 0; i < all; ++i) lanes[i] = static_cast<int32_t>(i * size % all);
    pick_ = hn::SetTableIndices(D(), lanes);
    for (size_t i = 0; i < all; ++i) lanes[i] = static_cast<int32_t>(i / size);
    spread_ = hn::SetTableIndices(D(), lanes);
  }
  HWY_INLINE V load(const float* x) const { return hn::TableLookupLanes(part_.load(x), spread_); }
  HWY_INLINE void store(V v, float* y) const { part_.store(hn::TableLookupLanes(v, pick_), y); }

 private:
  Rest part_;
  decltype(hn::SetTableIndices(D(), static_cast<const int32_t*>(nullptr))) pick_, spread_;
};

template <int kHead>
HWY_INLINE void forward(const NarrowAttention& a, const float* q, const float* k, const float* v, float* w,
                        float* m) {
  const D d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d)), heads = a.width / kHead;
  const V none = hn::Set(d, -std::numeric_limits<float>::infinity()), scale = hn::Set(d, a.scale);
  const PerHead per_head(kHead);
  HWY_ALIGN float row[kMostNarrowKeys * kMostLanes];
  for (int64_t c = 0; c < a.width; c += lanes)
    for (int64_t i = 0; i < a.queries; ++i) {
      const int64_t first = a.visible.first(i, a.pad), end = a.visible.end(i);
      const V query = hn::Mul(hn::LoadU(d, q + i * a.width + c), scale);
      V top = none, sum = hn::Zero(d), message = sum;
      auto nan = hn::IsNaN(none);  // the exponential below makes 0 of a NaN
      for (int64_t j = first; j < end; ++j) {
        const V score = head_sum<kHead>(hn::Mul(query, hn::LoadU(d, k + j * a.width + c)));
        top = hn::Max(top, score);
        nan = hn::Or(nan, hn::IsNaN(score));
        hn::Store(score, d, row + j * lanes);
      }
      top = hn::IfThenZeroElse(hn::Eq(top, none), top);
      for (int64_t j = first; j < end; ++j) {
        const V weight = hn::Exp(d, hn::Sub(hn::Load(d, row + j * lanes), top));
        sum = hn::Add(sum, weight);
        message = hn::MulAdd(weight, hn::LoadU(d, v + j * a.width + c), message);
        hn::Store(weight, d, row + j * lanes);
      }
      V share = hn::IfThenZeroElse(hn::Eq(sum, hn::Zero(d)), hn::Div(hn::Set(d, 1), sum));
      share = hn::IfThenElse(nan, hn::Set(d, std::numeric_limits<float>::quiet_NaN()), share);
      hn::StoreU(hn::Mul(message, share), d, m + i * a.width + c);
      if (w == nullptr) continue;
      float* kept = w + i * a.keys * heads + c / kHead;
      for (int64_t j = first; j < end; ++j)
        per_head.store(hn::Mul(hn::Load(d, row + j * lanes), share), kept + j * heads);
    }
}

template <int kHead>
HWY_INLINE void backward(const NarrowAttention& a, const float* q, const float* k, const float* v,
                         const float* w, const float* dm, float* dq, float* dk, float* dv) {
  const D d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d)), heads = a.width / kHead;
  const V scale = hn::Set(d, a.scale);
  const PerHead per_head(kHead);
  HWY_ALIGN float row[kMostNarrowKeys * kMostLanes];
  const auto add = [&](V x, V y, float* to) { hn::StoreU(hn::MulAdd(x, y, hn::LoadU(d, to)), d, to); };
  for (int64_t c = 0; c < a.width; c += lanes)
    for (int64_t i = 0; i < a.queries; ++i) {
      const int64_t first = a.visible.first(i, a.pad), end = a.visible.end(i), here = i * a.width + c;
      const float* kept = w + i * a.keys * heads + c / kHead;
      const V up = hn::LoadU(d, dm + here), query = hn::LoadU(d, q + here);
      V mean = hn::Zero(d), sum = mean;
      for (int64_t j = first; j < end; ++j) {
        const V e = head_sum<kHead>(hn::Mul(up, hn::LoadU(d, v + j * a.width + c)));
        mean = hn::MulAdd(per_head.load(kept + j * heads), e, mean);
        hn::Store(e, d, row + j * lanes);
      }
      for (int64_t j = first; j < end; ++j) {
        const int64_t there = j * a.width + c;
        const V weight = per_head.load(kept + j * heads);
        const V ds = hn::Mul(hn::Mul(weight, scale), hn::Sub(hn::Load(d, row + j * lanes), mean));
        sum = hn::MulAdd(ds, hn::LoadU(d, k + there), sum);
        if (dk != nullptr) add(ds, query, dk + there);
        if (dv != nullptr) add(weight, up, dv + there);
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
HWY_EXPORT(Narrow);
HWY_EXPORT(NarrowBackward);
}  // namespace rows

bool attention_is_narrow(int64_t head, int64_t width, int64_t keys) {
  using namespace rows;  // where the dispatch table stands
  return HWY_DYNAMIC_DISPATCH(IsNarrow)(head, width, keys);
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
