#include "tril/ops/peak.h"

// Highway compiles this file once for each instruction set and picks one at run time.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "tril/ops/peak.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace tril::peak::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Ten sums hide a latency of five cycles behind two units.
double MultiplyAdd(int64_t rounds, float* sink) {
  using D = hn::ScalableTag<float>;
  const D d;
  const auto a = hn::Set(d, 0.5f), b = hn::Set(d, 1.0f);
  auto s0 = hn::Iota(d, 0), s1 = hn::Iota(d, 1), s2 = hn::Iota(d, 2), s3 = hn::Iota(d, 3),
       s4 = hn::Iota(d, 4), s5 = hn::Iota(d, 5), s6 = hn::Iota(d, 6), s7 = hn::Iota(d, 7),
       s8 = hn::Iota(d, 8), s9 = hn::Iota(d, 9);
  for (int64_t i = 0; i < rounds; ++i) {
    s0 = hn::MulAdd(s0, a, b), s1 = hn::MulAdd(s1, a, b), s2 = hn::MulAdd(s2, a, b);
    s3 = hn::MulAdd(s3, a, b), s4 = hn::MulAdd(s4, a, b), s5 = hn::MulAdd(s5, a, b);
    s6 = hn::MulAdd(s6, a, b), s7 = hn::MulAdd(s7, a, b), s8 = hn::MulAdd(s8, a, b);
    s9 = hn::MulAdd(s9, a, b);
  }
  const auto low = hn::Add(hn::Add(hn::Add(s0, s1), hn::Add(s2, s3)), s4);
  const auto high = hn::Add(hn::Add(hn::Add(s5, s6), hn::Add(s7, s8)), s9);
  *sink = hn::GetLane(hn::SumOfLanes(d, hn::Add(low, high)));
  return static_cast<double>(rounds) * 10 * 2 * static_cast<double>(hn::Lanes(d));
}

float Read(const float* x, int64_t n) {
  using D = hn::ScalableTag<float>;
  const D d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  auto s0 = hn::Zero(d), s1 = s0, s2 = s0, s3 = s0;
  int64_t i = 0;
  for (; i + 4 * lanes <= n; i += 4 * lanes) {
    s0 = hn::Add(s0, hn::LoadU(d, x + i)), s1 = hn::Add(s1, hn::LoadU(d, x + i + lanes));
    s2 = hn::Add(s2, hn::LoadU(d, x + i + 2 * lanes)), s3 = hn::Add(s3, hn::LoadU(d, x + i + 3 * lanes));
  }
  float sum = hn::GetLane(hn::SumOfLanes(d, hn::Add(hn::Add(s0, s1), hn::Add(s2, s3))));
  for (; i < n; ++i) sum += x[i];
  return sum;
}

}  // namespace tril::peak::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tril::peak {

HWY_EXPORT(MultiplyAdd);
HWY_EXPORT(Read);

double multiply_add(int64_t rounds) {
  float sum = 0;
  const double operations = HWY_DYNAMIC_DISPATCH(MultiplyAdd)(rounds, &sum);
  volatile float kept = sum;  // so that the loop is not left out
  static_cast<void>(kept);
  return operations;
}
float read(const float* x, int64_t n) {
  return HWY_DYNAMIC_DISPATCH(Read)(x, n);
}

}  // namespace tril::peak
#endif
