#include "tril/ops/exp_rows.h"

#include <limits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "tril/ops/exp_rows.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
//
#include "tril/ops/rows_inl.h"

HWY_BEFORE_NAMESPACE();
namespace tril::rows::HWY_NAMESPACE {

// What lies behind a row counts as −∞, whose exponential is 0.
void ExpRows(float* x, int64_t count, int64_t n, float* top, float* sum) {
  const D d;
  const V none = hn::Set(d, -std::numeric_limits<float>::infinity());
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d)), distance = padded(n);
  for (int64_t r = 0; r < count; ++r) {
    float* row = x + r * distance;
    const auto load = [&](int64_t i) {
      const V v = hn::LoadU(d, row + i);
      if (i + lanes <= n) return v;
      return hn::IfThenElse(hn::FirstN(d, static_cast<size_t>(HWY_MAX(n - i, 0))), v, none);
    };
    V most = none, total = hn::Zero(d);
    auto nan = hn::IsNaN(none);
    for (int64_t i = 0; i < distance; i += lanes) {
      const V v = load(i);
      nan = hn::Or(nan, hn::IsNaN(v));
      most = hn::Max(most, v);
    }
    most = hn::MaxOfLanes(d, most);
    for (int64_t i = 0; i < distance; i += lanes) {
      const V e = hn::Exp(d, hn::Sub(load(i), most));
      total = hn::Add(total, e);
      hn::StoreU(e, d, row + i);
    }
    top[r] = hn::AllFalse(d, nan) ? hn::GetLane(most) : std::numeric_limits<float>::quiet_NaN();
    sum[r] = hn::GetLane(hn::SumOfLanes(d, total));
  }
}

void ScaleRows(const float* a, float* x, int64_t count, int64_t n) {
  const int64_t distance = padded(n);
  for (int64_t r = 0; r < count; ++r) {
    const V factor = hn::Set(D(), a[r]);
    map1(x + r * distance, x + r * distance, distance, [&](V v) { return hn::Mul(v, factor); });
  }
}

void AccumulateLog(const float* x, float* y, int64_t n) {
  map2(x, y, n, [](V old, V v) { return hn::Add(old, hn::Log(D(), v)); });
}

}  // namespace tril::rows::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tril::rows {
HWY_EXPORT(ExpRows);
HWY_EXPORT(ScaleRows);
HWY_EXPORT(AccumulateLog);

void exp_rows(float* x, int64_t count, int64_t n, float* top, float* sum) {
  HWY_DYNAMIC_DISPATCH(ExpRows)(x, count, n, top, sum);
}
void scale_rows(const float* a, float* x, int64_t count, int64_t n) {
  HWY_DYNAMIC_DISPATCH(ScaleRows)(a, x, count, n);
}
void accumulate_log(const float* x, float* y, int64_t n) {
  HWY_DYNAMIC_DISPATCH(AccumulateLog)(x, y, n);
}

}  // namespace tril::rows
#endif
