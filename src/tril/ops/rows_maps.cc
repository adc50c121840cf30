#include "tril/ops/rows_maps.h"

// Highway compiles this file once for each instruction set and picks one at run time.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "tril/ops/rows_maps.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
//
#include "tril/ops/rows_inl.h"

HWY_BEFORE_NAMESPACE();
namespace tril::rows::HWY_NAMESPACE {

HWY_INLINE V set(float a) {
  return hn::Set(D(), a);
}

void Multiply(const float* a, float* y, int64_t n) {
  map2(a, y, n, [](V old, V v) { return hn::Mul(old, v); });
}

void MultiplyAdd(const float* a, const float* b, float* y, int64_t n) {
  map3(a, b, y, n, [](V old, V v, V w) { return hn::MulAdd(v, w, old); });
}

void Normalize(const float* x, float mean, float r, float* y, int64_t n) {
  const V m = set(mean), factor = set(r);
  map1(x, y, n, [&](V v) { return hn::Mul(hn::Sub(v, m), factor); });
}

float SumSquaredDeviations(const float* x, float mean, int64_t n) {
  const D d;
  const V m = set(mean);
  V total = hn::Zero(d);
  const auto take = [&](V apart) { total = hn::MulAdd(apart, apart, total); };
  sweep(
      n, [&](int64_t i) { take(hn::Sub(hn::LoadU(d, x + i), m)); },
      [&](int64_t i, size_t left) {
        take(hn::IfThenElseZero(hn::FirstN(d, left), hn::Sub(Rest(left).load(x + i), m)));
      });
  return hn::GetLane(hn::SumOfLanes(d, total));
}

void NormalizeBackward(const float* h, const float* dh, float r, float a, float b, float* dx, int64_t n) {
  const V factor = set(r), shift = set(a), slope = set(b);
  map3(h, dh, dx, n, [&](V old, V value, V up) {
    return hn::MulAdd(factor, hn::Sub(hn::Sub(up, shift), hn::Mul(slope, value)), old);
  });
}

void Relu2(const float* x, float* y, int64_t n) {
  const V zero = hn::Zero(D());
  map1(x, y, n, [&](V v) { return hn::IfThenElse(hn::Lt(v, zero), zero, hn::Mul(v, v)); });
}

void Relu2Backward(const float* x, const float* dy, float* dx, int64_t n) {
  const V zero = hn::Zero(D());
  map3(x, dy, dx, n, [&](V old, V v, V up) {
    const V slope = hn::IfThenElse(hn::Lt(v, zero), zero, hn::Add(v, v));
    return hn::MulAdd(slope, up, old);
  });
}

// The normal distribution below x, and its density there times √2π. The tail beyond |x| is a polynomial times
// the density (Abramowitz and Stegun 7.1.26; error below 7.5e-8), mirrored for the other side.
struct Normal {
  V below, density;
};
HWY_INLINE Normal normal(V x) {
  const D d;
  const V one = set(1), z = hn::Mul(hn::Abs(x), set(0.70710678f));
  const V density = hn::Exp(d, hn::Neg(hn::Mul(z, z)));
  const V t = hn::Div(one, hn::MulAdd(z, set(0.3275911f), one));
  V p = hn::MulAdd(set(1.061405429f), t, set(-1.453152027f));
  p = hn::MulAdd(p, t, set(1.421413741f));
  p = hn::MulAdd(p, t, set(-0.284496736f));
  p = hn::MulAdd(p, t, set(0.254829592f));
  const V tail = hn::Mul(hn::Mul(set(0.5f), hn::Mul(p, t)), density);
  return {hn::IfThenElse(hn::Lt(x, hn::Zero(d)), tail, hn::Sub(one, tail)), density};
}

void Gelu(const float* x, float* y, int64_t n) {
  map1(x, y, n, [](V v) { return hn::Mul(v, normal(v).below); });
}

void GeluBackward(const float* x, const float* dy, float* dx, int64_t n) {
  map3(x, dy, dx, n, [](V old, V v, V up) {
    const Normal at = normal(v);
    return hn::MulAdd(up, hn::MulAdd(hn::Mul(v, set(0.39894228f)), at.density, at.below), old);
  });
}

// Highway's Exp holds up to 104; beyond 88 the result is below any number that matters.
HWY_INLINE V sigmoid(V x) {
  return hn::Div(set(1), hn::Add(set(1), hn::Exp(D(), hn::Min(hn::Neg(x), set(88)))));
}

// x/2 (1 + tanh u) = x sigmoid(2u), with 2u = a x + b x^3.
constexpr float kTwiceRoot = 1.5957691f, kCube = 0.071354816f;  // a = 2√(2/π), b = 0.044715 a

void GeluTanh(const float* x, float* y, int64_t n) {
  map1(x, y, n, [](V v) {
    const V inner = hn::Mul(v, hn::MulAdd(set(kCube), hn::Mul(v, v), set(kTwiceRoot)));
    return hn::Mul(v, sigmoid(inner));
  });
}

void GeluTanhBackward(const float* x, const float* dy, float* dx, int64_t n) {
  map3(x, dy, dx, n, [](V old, V v, V up) {
    const V square = hn::Mul(v, v);
    const V s = sigmoid(hn::Mul(v, hn::MulAdd(set(kCube), square, set(kTwiceRoot))));
    const V inner_slope = hn::MulAdd(set(3 * kCube), square, set(kTwiceRoot));
    const V bend = hn::Mul(hn::Mul(v, inner_slope), hn::Mul(s, hn::Sub(set(1), s)));
    return hn::MulAdd(up, hn::Add(s, bend), old);
  });
}

void Silu(const float* x, float* y, int64_t n) {
  map1(x, y, n, [](V v) { return hn::Mul(v, sigmoid(v)); });
}

void SiluBackward(const float* x, const float* dy, float* dx, int64_t n) {
  map3(x, dy, dx, n, [](V old, V v, V up) {
    const V s = sigmoid(v);
    return hn::MulAdd(up, hn::Mul(s, hn::MulAdd(v, hn::Sub(set(1), s), set(1))), old);
  });
}

void Softcap(const float* x, float cap, float* y, int64_t n) {
  const V c = set(cap), inverse = set(1 / cap);
  map1(x, y, n, [&](V v) { return hn::Mul(c, hn::Tanh(D(), hn::Mul(v, inverse))); });
}

void SoftcapBackward(const float* y, float cap, const float* dy, float* dx, int64_t n) {
  const V inverse = set(1 / cap);
  map3(y, dy, dx, n, [&](V old, V v, V up) {
    const V t = hn::Mul(v, inverse);
    return hn::MulAdd(up, hn::NegMulAdd(t, t, set(1)), old);
  });
}

}  // namespace tril::rows::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tril::rows {

HWY_EXPORT(Multiply);
HWY_EXPORT(MultiplyAdd);
HWY_EXPORT(Normalize);
HWY_EXPORT(SumSquaredDeviations);
HWY_EXPORT(NormalizeBackward);
HWY_EXPORT(Relu2);
HWY_EXPORT(Relu2Backward);
HWY_EXPORT(Gelu);
HWY_EXPORT(GeluBackward);
HWY_EXPORT(GeluTanh);
HWY_EXPORT(GeluTanhBackward);
HWY_EXPORT(Silu);
HWY_EXPORT(SiluBackward);
HWY_EXPORT(Softcap);
HWY_EXPORT(SoftcapBackward);

void multiply(const float* a, float* y, int64_t n) {
  HWY_DYNAMIC_DISPATCH(Multiply)(a, y, n);
}
void multiply_add(const float* a, const float* b, float* y, int64_t n) {
  HWY_DYNAMIC_DISPATCH(MultiplyAdd)(a, b, y, n);
}
void normalize(const float* x, float mean, float r, float* y, int64_t n) {
  HWY_DYNAMIC_DISPATCH(Normalize)(x, mean, r, y, n);
}
float sum_squared_deviations(const float* x, float mean, int64_t n) {
  return HWY_DYNAMIC_DISPATCH(SumSquaredDeviations)(x, mean, n);
}
void normalize_backward(const float* h, const float* dh, float r, float a, float b, float* dx, int64_t n) {
  HWY_DYNAMIC_DISPATCH(NormalizeBackward)(h, dh, r, a, b, dx, n);
}
void relu2(const float* x, float* y, int64_t n) {
  HWY_DYNAMIC_DISPATCH(Relu2)(x, y, n);
}
void relu2_backward(const float* x, const float* dy, float* dx, int64_t n) {
  HWY_DYNAMIC_DISPATCH(Relu2Backward)(x, dy, dx, n);
}
void gelu(const float* x, float* y, int64_t n) {
  HWY_DYNAMIC_DISPATCH(Gelu)(x, y, n);
}
void gelu_backward(const float* x, const float* dy, float* dx, int64_t n) {
  HWY_DYNAMIC_DISPATCH(GeluBackward)(x, dy, dx, n);
}
void gelu_tanh(const float* x, float* y, int64_t n) {
  HWY_DYNAMIC_DISPATCH(GeluTanh)(x, y, n);
}
void gelu_tanh_backward(const float* x, const float* dy, float* dx, int64_t n) {
  HWY_DYNAMIC_DISPATCH(GeluTanhBackward)(x, dy, dx, n);
}
void silu(const float* x, float* y, int64_t n) {
  HWY_DYNAMIC_DISPATCH(Silu)(x, y, n);
}
void silu_backward(const float* x, const float* dy, float* dx, int64_t n) {
  HWY_DYNAMIC_DISPATCH(SiluBackward)(x, dy, dx, n);
}
void softcap(const float* x, float cap, float* y, int64_t n) {
  HWY_DYNAMIC_DISPATCH(Softcap)(x, cap, y, n);
}
void softcap_backward(const float* y, float cap, const float* dy, float* dx, int64_t n) {
  HWY_DYNAMIC_DISPATCH(SoftcapBackward)(y, cap, dy, dx, n);
}

}  // namespace tril::rows
#endif
