#include "tril/generate/quick_pick.h"

#include <cmath>
#include <limits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "tril/generate/quick_pick.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
//
#include <hwy/contrib/math/math-inl.h>

HWY_BEFORE_NAMESPACE();
namespace tril::rows::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

constexpr int64_t kMostIds = 512;

#if !HWY_HAVE_FLOAT64
int32_t QuickPick(const double*, int64_t, double, double) {
  return kUnclear;
}
int32_t QuickPickFloats(const float*, int64_t, double, double) {
  return kUnclear;
}
#else

// Differences from the largest logit are taken in the logits' own type and go on in float. Where the last
// vector is partial it takes the ids before it again, which then count once.
template <class T>
HWY_INLINE int32_t pick(const T* logits, int64_t n, double temperature, double uniform) {
  const hn::ScalableTag<T> d;
  const hn::Rebind<float, decltype(d)> f;
  const auto load = [&](int64_t i) { return hn::LoadU(d, logits + i); };
  const auto to_float = [&](auto v) {
    if constexpr (sizeof(T) == sizeof(float))
      return v;
    else
      return hn::DemoteTo(f, v);
  };
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d)), last = n - lanes;
  if (n > kMostIds || last < 0) return kUnclear;
  auto top = load(last);
  auto finite = hn::Eq(top, top);
  const auto infinity = hn::Set(d, std::numeric_limits<T>::infinity());
  for (int64_t i = 0; i < n; i += lanes) {
    const auto here = load(HWY_MIN(i, last));
    top = hn::Max(top, here);
    finite = hn::And(finite, hn::Lt(hn::Abs(here), infinity));
  }
  if (!hn::AllTrue(d, finite)) return kUnclear;
  top = hn::MaxOfLanes(d, top);

  HWY_ALIGN float weights[kMostIds];
  const auto inverse = hn::Set(d, static_cast<T>(1 / temperature));
  auto total = hn::Zero(f);
  for (int64_t i = 0; i < n; i += lanes) {
    const int64_t at = HWY_MIN(i, last);
    const auto off = to_float(hn::Mul(hn::Sub(load(at), top), inverse));
    const auto weight = hn::Exp(f, off);
    hn::StoreU(weight, f, weights + at);
    const auto again = hn::FirstN(f, static_cast<size_t>(i - at));
    total = hn::Add(total, hn::IfThenZeroElse(again, weight));
  }
  // A weight is off by six roundings at most, a sum of n by n more; and the exact way adds `top` to all in
  // double and takes it off again. This is twice as much.
  const float sum = hn::GetLane(hn::SumOfLanes(f, total));
  const double size = std::fabs(hn::GetLane(top)), target = uniform * sum;
  const double margin = sum * (static_cast<double>(n + 32) * 0x1p-23 + size * 0x1p-50);
  const float near = static_cast<float>(target - margin), clear = static_cast<float>(target + margin);
  float reached = 0;
  for (int64_t i = 0; i < n; ++i) {
    reached += weights[i];
    if (reached > near) return reached > clear ? static_cast<int32_t>(i) : kUnclear;
  }
  return kUnclear;
}

int32_t QuickPick(const double* logits, int64_t n, double temperature, double uniform) {
  return pick(logits, n, temperature, uniform);
}
int32_t QuickPickFloats(const float* logits, int64_t n, double temperature, double uniform) {
  return pick(logits, n, temperature, uniform);
}
#endif

}  // namespace tril::rows::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tril {
namespace rows {
HWY_EXPORT(QuickPick);
HWY_EXPORT(QuickPickFloats);
}  // namespace rows

int32_t quick_pick(std::span<const double> logits, double temperature, double uniform) {
  using namespace rows;  // where the dispatch table stands
  return HWY_DYNAMIC_DISPATCH(QuickPick)(logits.data(), static_cast<int64_t>(logits.size()), temperature,
                                         uniform);
}

int32_t quick_pick(std::span<const float> logits, double temperature, double uniform) {
  using namespace rows;
  return HWY_DYNAMIC_DISPATCH(QuickPickFloats)(logits.data(), static_cast<int64_t>(logits.size()),
                                               temperature, uniform);
}

}  // namespace tril
#endif
