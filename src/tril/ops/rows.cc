#include "tril/ops/rows.h"

#include <limits>

// Highway compiles this file once for each instruction set and picks one at run time.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "tril/ops/rows.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
//
#include "tril/ops/rows_inl.h"

HWY_BEFORE_NAMESPACE();
namespace tril::rows::HWY_NAMESPACE {

// Four running sums hide the latency of addition; the rest of the row is added number by number.
template <class F, class G>
HWY_INLINE float reduce_sum(int64_t n, const F& vector, const G& single) {
  const D d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  V s0 = hn::Zero(d), s1 = s0, s2 = s0, s3 = s0;
  int64_t i = 0;
  for (; i + 4 * lanes <= n; i += 4 * lanes) {
    s0 = vector(s0, i);
    s1 = vector(s1, i + lanes);
    s2 = vector(s2, i + 2 * lanes);
    s3 = vector(s3, i + 3 * lanes);
  }
  for (; i + lanes <= n; i += lanes) s0 = vector(s0, i);
  float total = hn::GetLane(hn::SumOfLanes(d, hn::Add(hn::Add(s0, s1), hn::Add(s2, s3))));
  for (; i < n; ++i) total += single(i);
  return total;
}

float Sum(const float* x, int64_t n) {
  const D d;
  return reduce_sum(
      n, [&](V s, int64_t i) { return hn::Add(s, hn::LoadU(d, x + i)); }, [&](int64_t i) { return x[i]; });
}

float Dot(const float* a, const float* b, int64_t n) {
  const D d;
  return reduce_sum(
      n, [&](V s, int64_t i) { return hn::MulAdd(hn::LoadU(d, a + i), hn::LoadU(d, b + i), s); },
      [&](int64_t i) { return a[i] * b[i]; });
}

float Max(const float* x, int64_t n) {
  const D d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  float best = -std::numeric_limits<float>::infinity();
  int64_t i = 0;
  if (n >= lanes) {
    V top = hn::LoadU(d, x);
    auto nan = hn::IsNaN(top);
    for (i = lanes; i + lanes <= n; i += lanes) {
      const V v = hn::LoadU(d, x + i);
      nan = hn::Or(nan, hn::IsNaN(v));
      top = hn::Max(top, v);
    }
    if (!hn::AllFalse(d, nan)) return std::numeric_limits<float>::quiet_NaN();
    best = hn::GetLane(hn::MaxOfLanes(d, top));
  }
  for (; i < n; ++i) {
    if (x[i] != x[i]) return x[i];
    best = x[i] > best ? x[i] : best;
  }
  return best;
}

float ExpSum(const float* x, float shift, float* y, int64_t n) {
  const D d;
  const V s = hn::Set(d, shift);
  V total = hn::Zero(d);
  float rest = 0;
  sweep(
      n,
      [&](int64_t i) {
        const V e = hn::Exp(d, hn::Sub(hn::LoadU(d, x + i), s));
        total = hn::Add(total, e);
        hn::StoreU(e, d, y + i);
      },
      [&](int64_t i, size_t left) {
        map1(x + i, y + i, static_cast<int64_t>(left), [&](V v) { return hn::Exp(d, hn::Sub(v, s)); });
        for (size_t j = 0; j < left; ++j) rest += y[i + static_cast<int64_t>(j)];
      });
  return hn::GetLane(hn::SumOfLanes(d, total)) + rest;
}

float ExpSumOnly(const float* x, float shift, int64_t n) {
  const D d;
  const V s = hn::Set(d, shift);
  V total = hn::Zero(d);
  float rest = 0;
  sweep(
      n, [&](int64_t i) { total = hn::Add(total, hn::Exp(d, hn::Sub(hn::LoadU(d, x + i), s))); },
      [&](int64_t i, size_t left) {
        float y[HWY_MAX_BYTES / sizeof(float)];
        map1(x + i, y, static_cast<int64_t>(left), [&](V v) { return hn::Exp(d, hn::Sub(v, s)); });
        for (size_t j = 0; j < left; ++j) rest += y[j];
      });
  return hn::GetLane(hn::SumOfLanes(d, total)) + rest;
}

void Scale(const float* x, float a, float* y, int64_t n) {
  const V factor = hn::Set(D(), a);
  map1(x, y, n, [&](V v) { return hn::Mul(v, factor); });
}

void Accumulate(const float* x, float* y, int64_t n) {
  map2(x, y, n, [](V old, V v) { return hn::Add(old, v); });
}

void Axpy(float a, const float* x, float* y, int64_t n) {
  const V factor = hn::Set(D(), a);
  map2(x, y, n, [&](V old, V v) { return hn::MulAdd(factor, v, old); });
}

void AxpyExp(float a, const float* x, float shift, float* y, int64_t n) {
  const D d;
  const V factor = hn::Set(d, a), s = hn::Set(d, shift);
  map2(x, y, n, [&](V old, V v) { return hn::MulAdd(factor, hn::Exp(d, hn::Sub(v, s)), old); });
}

void Add(const float* a, const float* b, float* out, int64_t n) {
  map3(a, b, out, n, [](V, V x, V y) { return hn::Add(x, y); });
}

void Relu(const float* x, float* y, int64_t n) {
  const V zero = hn::Zero(D());
  map1(x, y, n, [&](V v) { return hn::IfThenElse(hn::Lt(v, zero), zero, v); });
}

void ReluBackward(const float* y, const float* dy, float* dx, int64_t n) {
  const V zero = hn::Zero(D());
  map3(y, dy, dx, n,
       [&](V old, V out, V up) { return hn::Add(old, hn::IfThenElseZero(hn::Gt(out, zero), up)); });
}

void SoftmaxBackward(const float* p, const float* dp, float s, float* dx, int64_t n) {
  const V mean = hn::Set(D(), s);
  map3(p, dp, dx, n, [&](V old, V prob, V up) { return hn::MulAdd(prob, hn::Sub(up, mean), old); });
}

bool AllFinite(const float* x, int64_t n) {
  const D d;
  bool ok = true;
  sweep(
      n, [&](int64_t i) { ok = ok && hn::AllTrue(d, hn::IsFinite(hn::LoadU(d, x + i))); },
      [&](int64_t i, size_t left) {
        for (size_t j = 0; j < left; ++j) {
          const float v = x[i + static_cast<int64_t>(j)];
          ok = ok && (v - v == 0);
        }
      });
  return ok;
}

void Adam(const AdamStep& step, float* weight, const float* grad, float* m, float* v, int64_t n) {
  const D d;
  const V b2 = hn::Set(d, step.beta2), scale = hn::Set(d, step.grad_scale);
  const V c1 = hn::Set(d, step.fresh1), c2 = hn::Set(d, step.fresh2), shrink = hn::Set(d, step.shrink);
  const V rate = hn::Set(d, step.learning_rate / step.bias1), root = hn::Set(d, step.root_bias2);
  const V eps = hn::Set(d, step.epsilon), l2 = hn::Set(d, step.l2);
  const auto one = [&](V w, V g0, V& mi, V& vi) {
    const V g = hn::MulAdd(l2, w, hn::Mul(g0, scale));
    mi = hn::MulAdd(c1, hn::Sub(g, mi), mi);
    vi = hn::MulAdd(b2, vi, hn::Mul(c2, hn::Mul(g, g)));
    const V denominator = hn::Add(hn::Div(hn::Sqrt(vi), root), eps);
    return hn::Sub(hn::Mul(w, shrink), hn::Mul(rate, hn::Div(mi, denominator)));
  };
  sweep(
      n,
      [&](int64_t i) {
        V mi = hn::LoadU(d, m + i), vi = hn::LoadU(d, v + i);
        hn::StoreU(one(hn::LoadU(d, weight + i), hn::LoadU(d, grad + i), mi, vi), d, weight + i);
        hn::StoreU(mi, d, m + i);
        hn::StoreU(vi, d, v + i);
      },
      [&](int64_t i, size_t left) {
        constexpr size_t kMax = HWY_MAX_BYTES / sizeof(float);
        HWY_ALIGN float w[kMax] = {}, g[kMax] = {}, mm[kMax] = {}, vv[kMax] = {};
        for (size_t j = 0; j < left; ++j) {
          const int64_t k = i + static_cast<int64_t>(j);
          w[j] = weight[k], g[j] = grad[k], mm[j] = m[k], vv[j] = v[k];
        }
        V mi = hn::Load(d, mm), vi = hn::Load(d, vv);
        hn::Store(one(hn::Load(d, w), hn::Load(d, g), mi, vi), d, w);
        hn::Store(mi, d, mm);
        hn::Store(vi, d, vv);
        for (size_t j = 0; j < left; ++j) {
          const int64_t k = i + static_cast<int64_t>(j);
          weight[k] = w[j], m[k] = mm[j], v[k] = vv[j];
        }
      });
}

const char* Level() {
  return hwy::TargetName(HWY_TARGET);
}

}  // namespace tril::rows::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tril::rows {

HWY_EXPORT(Sum);
HWY_EXPORT(Dot);
HWY_EXPORT(Max);
HWY_EXPORT(ExpSum);
HWY_EXPORT(ExpSumOnly);
HWY_EXPORT(Scale);
HWY_EXPORT(Accumulate);
HWY_EXPORT(Axpy);
HWY_EXPORT(AxpyExp);
HWY_EXPORT(Add);
HWY_EXPORT(Relu);
HWY_EXPORT(ReluBackward);
HWY_EXPORT(SoftmaxBackward);
HWY_EXPORT(AllFinite);
HWY_EXPORT(Adam);
HWY_EXPORT(Level);

float sum(const float* x, int64_t n) {
  return HWY_DYNAMIC_DISPATCH(Sum)(x, n);
}
double sum_squares(const float* x, int64_t n) {
  double total = 0;
  for (int64_t i = 0; i < n; i += 1024) {
    const int64_t block = n - i < 1024 ? n - i : 1024;
    total += static_cast<double>(dot(x + i, x + i, block));
  }
  return total;
}
float max(const float* x, int64_t n) {
  return HWY_DYNAMIC_DISPATCH(Max)(x, n);
}
float dot(const float* a, const float* b, int64_t n) {
  return HWY_DYNAMIC_DISPATCH(Dot)(a, b, n);
}
float exp_sum(const float* x, float shift, float* y, int64_t n) {
  return HWY_DYNAMIC_DISPATCH(ExpSum)(x, shift, y, n);
}
float exp_sum_only(const float* x, float shift, int64_t n) {
  return HWY_DYNAMIC_DISPATCH(ExpSumOnly)(x, shift, n);
}
void scale(const float* x, float a, float* y, int64_t n) {
  HWY_DYNAMIC_DISPATCH(Scale)(x, a, y, n);
}
void accumulate(const float* x, float* y, int64_t n) {
  HWY_DYNAMIC_DISPATCH(Accumulate)(x, y, n);
}
void axpy(float a, const float* x, float* y, int64_t n) {
  HWY_DYNAMIC_DISPATCH(Axpy)(a, x, y, n);
}
void axpy_exp(float a, const float* x, float shift, float* y, int64_t n) {
  HWY_DYNAMIC_DISPATCH(AxpyExp)(a, x, shift, y, n);
}
void add(const float* a, const float* b, float* out, int64_t n) {
  HWY_DYNAMIC_DISPATCH(Add)(a, b, out, n);
}
void relu(const float* x, float* y, int64_t n) {
  HWY_DYNAMIC_DISPATCH(Relu)(x, y, n);
}
void relu_backward(const float* y, const float* dy, float* dx, int64_t n) {
  HWY_DYNAMIC_DISPATCH(ReluBackward)(y, dy, dx, n);
}
void softmax_backward(const float* p, const float* dp, float s, float* dx, int64_t n) {
  HWY_DYNAMIC_DISPATCH(SoftmaxBackward)(p, dp, s, dx, n);
}
bool all_finite(const float* x, int64_t n) {
  return HWY_DYNAMIC_DISPATCH(AllFinite)(x, n);
}
void adam(const AdamStep& step, float* weight, const float* grad, float* moment1, float* moment2, int64_t n) {
  HWY_DYNAMIC_DISPATCH(Adam)(step, weight, grad, moment1, moment2, n);
}
const char* vector_level() {
  return HWY_DYNAMIC_DISPATCH(Level)();
}

}  // namespace tril::rows
#endif
