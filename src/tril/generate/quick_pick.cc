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
#else

// Differences from the largest logit are taken in double and go on in float.
int32_t QuickPick(const double* logits, int64_t n, double temperature, double uniform) {
  const hn::ScalableTag<double> d;
  const hn::Rebind<float, decltype(d)> f;
  using Numbers = hn::Vec<decltype(d)>;
  constexpr int64_t kMostLanes = HWY_MAX_BYTES / sizeof(double);
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  if (n > kMostIds) return kUnclear;
  // What is left of the last vector weighs nothing.
  HWY_ALIGN double rest[kMostLanes];
  const int64_t whole = n / lanes * lanes;
  for (int64_t j = 0; j < lanes; ++j)
    rest[j] = whole + j < n ? logits[whole + j] : std::numeric_limits<double>::lowest();
  const Numbers last = hn::Load(d, rest);
  const auto at = [&](int64_t i) { return i < whole ? hn::LoadU(d, logits + i) : last; };

  Numbers top = at(0);
  auto finite = hn::Eq(top, top);
  for (int64_t i = 0; i < n; i += lanes) {
    top = hn::Max(top, at(i));
    finite = hn::And(finite, hn::Lt(hn::Abs(at(i)), hn::Set(d, std::numeric_limits<double>::infinity())));
  }
  if (!hn::AllTrue(d, finite)) return kUnclear;
  top = hn::MaxOfLanes(d, top);

  HWY_ALIGN float weights[kMostIds + kMostLanes];
  const Numbers inverse = hn::Set(d, 1 / temperature);
  auto total = hn::Zero(f);
  for (int64_t i = 0; i < n; i += lanes) {
    const auto weight = hn::Exp(f, hn::DemoteTo(f, hn::Mul(hn::Sub(at(i), top), inverse)));
    total = hn::Add(total, weight);
    hn::Store(weight, f, weights + i);
  }
  // A weight is off by four roundings at most, a sum of n by n more; and the exact way adds `top` to all in
  // double and takes it off again. This is twice as much.
  const float sum = hn::GetLane(hn::SumOfLanes(f, total));
  const double size = std::fabs(hn::GetLane(top));
  const double margin = sum * (static_cast<double>(n + 32) * 0x1p-23 + size * 0x1p-50),
               target = uniform * sum;
  const float near = static_cast<float>(target - margin), clear = static_cast<float>(target + margin);
  float reached = 0;
  for (int64_t i = 0; i < n; ++i) {
    reached += weights[i];
    if (reached > near) return reached > clear ? static_cast<int32_t>(i) : kUnclear;
  }
  return kUnclear;
}
#endif

}  // namespace tril::rows::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tril {
namespace rows {
HWY_EXPORT(QuickPick);
}  // namespace rows

int32_t quick_pick(std::span<const double> logits, double temperature, double uniform) {
  using namespace rows;  // where the dispatch table stands
  return HWY_DYNAMIC_DISPATCH(QuickPick)(logits.data(), static_cast<int64_t>(logits.size()), temperature,
                                         uniform);
}

}  // namespace tril
#endif
