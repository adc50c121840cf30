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

// Four running sums hide the latency of addition; what is left of the row joins the first of them.
template <class F>
HWY_INLINE float reduce_sum(int64_t n, const F& add) {
  const D d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  V s0 = hn::Zero(d), s1 = s0, s2 = s0, s3 = s0;
  int64_t i = 0;
  const auto load = [&](int64_t at) { return [&d, at](const float* x) { return hn::LoadU(d, x + at); }; };
  for (; i + 4 * lanes <= n; i += 4 * lanes) {
    s0 = add(s0, load(i));
    s1 = add(s1, load(i + lanes));
    s2 = add(s2, load(i + 2 * lanes));
    s3 = add(s3, load(i + 3 * lanes));
  }
  for (; i + lanes <= n; i += lanes) s0 = add(s0, load(i));
  if (i < n) {
    const Rest rest(static_cast<size_t>(n - i));
    s0 = add(s0, [&](const float* x) { return rest.load(x + i); });
  }
  return hn::GetLane(hn::SumOfLanes(d, hn::Add(hn::Add(s0, s1), hn::Add(s2, s3))));
}

float Sum(const float* x, int64_t n) {
  return reduce_sum(n, [&](V s, const auto& load) { return hn::Add(s, load(x)); });
}

float Dot(const float* a, const float* b, int64_t n) {
  return reduce_sum(n, [&](V s, const auto& load) { return hn::MulAdd(load(a), load(b), s); });
}

#if HWY_TARGET != HWY_SCALAR
// In each lane of a block of four: the sum of s0, of s1, of s2, of s3, over all lanes.
HWY_INLINE V four_sums(V s0, V s1, V s2, V s3) {
  const D d;
  const hn::RepartitionToWide<D> wide;
  const auto pairs01 =
      hn::BitCast(wide, hn::Add(hn::InterleaveLower(d, s0, s1), hn::InterleaveUpper(d, s0, s1)));
  const auto pairs23 =
      hn::BitCast(wide, hn::Add(hn::InterleaveLower(d, s2, s3), hn::InterleaveUpper(d, s2, s3)));
  V total = hn::Add(hn::BitCast(d, hn::InterleaveLower(wide, pairs01, pairs23)),
                    hn::BitCast(d, hn::InterleaveUpper(wide, pairs01, pairs23)));
  if (hn::Lanes(d) >= 8) total = hn::Add(total, hn::SwapAdjacentBlocks(total));
  if (hn::Lanes(d) >= 16) total = hn::Add(total, hn::ReverseBlocks(d, total));
  return total;
}

// Four rows at a time: one addition's latency hides the others', and their sums fold together.
int64_t FourDots(const float* x, const float* y, int64_t distance, int64_t count, int64_t n, float a,
                 float* out) {
  const D d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d)), whole = n / lanes * lanes;
  if (lanes > 16) return 0;
  const Rest rest(static_cast<size_t>(n - whole)), four(4);
  const V factor = hn::Set(d, a);
  int64_t j = 0;
  for (; j + 4 <= count; j += 4) {
    const float *y0 = y + j * distance, *y1 = y0 + distance, *y2 = y1 + distance, *y3 = y2 + distance;
    V s0 = hn::Zero(d), s1 = s0, s2 = s0, s3 = s0;
    for (int64_t i = 0; i < whole; i += lanes) {
      const V part = hn::LoadU(d, x + i);
      s0 = hn::MulAdd(part, hn::LoadU(d, y0 + i), s0), s1 = hn::MulAdd(part, hn::LoadU(d, y1 + i), s1);
      s2 = hn::MulAdd(part, hn::LoadU(d, y2 + i), s2), s3 = hn::MulAdd(part, hn::LoadU(d, y3 + i), s3);
    }
    if (whole < n) {
      const V part = rest.load(x + whole);
      s0 = hn::MulAdd(part, rest.load(y0 + whole), s0), s1 = hn::MulAdd(part, rest.load(y1 + whole), s1);
      s2 = hn::MulAdd(part, rest.load(y2 + whole), s2), s3 = hn::MulAdd(part, rest.load(y3 + whole), s3);
    }
    four.store(hn::Mul(factor, four_sums(s0, s1, s2, s3)), out + j);
  }
  return j;
}
#else
int64_t FourDots(const float*, const float*, int64_t, int64_t, int64_t, float, float*) {
  return 0;
}
#endif

void Dots(const float* x, const float* y, int64_t distance, int64_t count, int64_t n, float a, float* out) {
  if (n > 4) {
    for (int64_t j = FourDots(x, y, distance, count, n, a, out); j < count; ++j)
      out[j] = a * Dot(x, y + j * distance, n);
    return;
  }
  for (int64_t j = 0; j < count; ++j) {  // the narrowest heads: a vector would be mostly empty
    float sum = 0;
    for (int64_t i = 0; i < n; ++i) sum += x[i] * y[j * distance + i];
    out[j] = a * sum;
  }
}

// Up to four vectors of y stay in registers while all rows pass.
void Combine(const float* w, const float* x, int64_t distance, int64_t count, int64_t n, float* y) {
  const D d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  int64_t i = 0;
  for (; i + 4 * lanes <= n; i += 4 * lanes) {
    V s0 = hn::LoadU(d, y + i), s1 = hn::LoadU(d, y + i + lanes), s2 = hn::LoadU(d, y + i + 2 * lanes),
      s3 = hn::LoadU(d, y + i + 3 * lanes);
    for (int64_t j = 0; j < count; ++j) {
      const V factor = hn::Set(d, w[j]);
      const float* row = x + j * distance + i;
      s0 = hn::MulAdd(factor, hn::LoadU(d, row), s0);
      s1 = hn::MulAdd(factor, hn::LoadU(d, row + lanes), s1);
      s2 = hn::MulAdd(factor, hn::LoadU(d, row + 2 * lanes), s2);
      s3 = hn::MulAdd(factor, hn::LoadU(d, row + 3 * lanes), s3);
    }
    hn::StoreU(s0, d, y + i), hn::StoreU(s1, d, y + i + lanes);
    hn::StoreU(s2, d, y + i + 2 * lanes), hn::StoreU(s3, d, y + i + 3 * lanes);
  }
  sweep(
      n - i,
      [&](int64_t k) {
        V total = hn::LoadU(d, y + i + k);
        for (int64_t j = 0; j < count; ++j)
          total = hn::MulAdd(hn::Set(d, w[j]), hn::LoadU(d, x + j * distance + i + k), total);
        hn::StoreU(total, d, y + i + k);
      },
      [&](int64_t k, size_t left) {
        const Rest rest(left);
        V total = rest.load(y + i + k);
        for (int64_t j = 0; j < count; ++j)
          total = hn::MulAdd(hn::Set(d, w[j]), rest.load(x + j * distance + i + k), total);
        rest.store(total, y + i + k);
      });
}

void Spread(const float* w, const float* x, int64_t distance, int64_t count, int64_t n, float* y) {
  const D d;
  sweep(
      n,
      [&](int64_t i) {
        const V v = hn::LoadU(d, x + i);
        for (int64_t j = 0; j < count; ++j) {
          float* at = y + j * distance + i;
          hn::StoreU(hn::MulAdd(hn::Set(d, w[j]), v, hn::LoadU(d, at)), d, at);
        }
      },
      [&](int64_t i, size_t left) {
        const Rest rest(left);
        const V v = rest.load(x + i);
        for (int64_t j = 0; j < count; ++j) {
          float* at = y + j * distance + i;
          rest.store(hn::MulAdd(hn::Set(d, w[j]), v, rest.load(at)), at);
        }
      });
}

float Max(const float* x, int64_t n) {
  const D d;
  V top = hn::Set(d, -std::numeric_limits<float>::infinity());
  auto nan = hn::IsNaN(top);
  const auto take = [&](V v) {
    nan = hn::Or(nan, hn::IsNaN(v));
    top = hn::Max(top, v);
  };
  sweep(
      n, [&](int64_t i) { take(hn::LoadU(d, x + i)); },
      [&](int64_t i, size_t left) {
        take(hn::IfThenElse(hn::FirstN(d, left), Rest(left).load(x + i), top));
      });
  if (!hn::AllFalse(d, nan)) return std::numeric_limits<float>::quiet_NaN();
  return hn::GetLane(hn::MaxOfLanes(d, top));
}

float ExpSum(const float* x, float shift, float* y, int64_t n) {
  const D d;
  const V s = hn::Set(d, shift);
  V total = hn::Zero(d);
  sweep(
      n,
      [&](int64_t i) {
        const V e = hn::Exp(d, hn::Sub(hn::LoadU(d, x + i), s));
        total = hn::Add(total, e);
        hn::StoreU(e, d, y + i);
      },
      [&](int64_t i, size_t left) {
        const Rest rest(left);
        const V e = hn::Exp(d, hn::Sub(rest.load(x + i), s));
        total = hn::Add(total, hn::IfThenElseZero(hn::FirstN(d, left), e));
        rest.store(e, y + i);
      });
  return hn::GetLane(hn::SumOfLanes(d, total));
}

float ExpSumOnly(const float* x, float shift, int64_t n) {
  const D d;
  const V s = hn::Set(d, shift);
  V total = hn::Zero(d);
  sweep(
      n, [&](int64_t i) { total = hn::Add(total, hn::Exp(d, hn::Sub(hn::LoadU(d, x + i), s))); },
      [&](int64_t i, size_t left) {
        const V e = hn::Exp(d, hn::Sub(Rest(left).load(x + i), s));
        total = hn::Add(total, hn::IfThenElseZero(hn::FirstN(d, left), e));
      });
  return hn::GetLane(hn::SumOfLanes(d, total));
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

void KeepPositive(const float* y, const float* dy, float* dx, int64_t n) {
  const V zero = hn::Zero(D());
  map3(y, dy, dx, n, [&](V, V out, V up) { return hn::IfThenElseZero(hn::Gt(out, zero), up); });
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
      [&](int64_t i, size_t left) { ok = ok && hn::AllTrue(d, hn::IsFinite(Rest(left).load(x + i))); });
  return ok;
}

bool AllFiniteRows(const float* x, int64_t count, int64_t n, int64_t distance) {
  for (int64_t r = 0; r < count; ++r)
    if (!AllFinite(x + r * distance, n)) return false;
  return true;
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

}  // namespace tril::rows::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tril::rows {

HWY_EXPORT(Sum);
HWY_EXPORT(Dot);
HWY_EXPORT(Dots);
HWY_EXPORT(Combine);
HWY_EXPORT(Spread);
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
HWY_EXPORT(KeepPositive);
HWY_EXPORT(SoftmaxBackward);
HWY_EXPORT(AllFinite);
HWY_EXPORT(AllFiniteRows);
HWY_EXPORT(Adam);

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
void dots(const float* x, const float* y, int64_t distance, int64_t count, int64_t n, float a, float* out) {
  HWY_DYNAMIC_DISPATCH(Dots)(x, y, distance, count, n, a, out);
}
void combine(const float* w, const float* x, int64_t distance, int64_t count, int64_t n, float* y) {
  HWY_DYNAMIC_DISPATCH(Combine)(w, x, distance, count, n, y);
}
void spread(const float* w, const float* x, int64_t distance, int64_t count, int64_t n, float* y) {
  HWY_DYNAMIC_DISPATCH(Spread)(w, x, distance, count, n, y);
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
void keep_positive(const float* y, const float* dy, float* dx, int64_t n) {
  HWY_DYNAMIC_DISPATCH(KeepPositive)(y, dy, dx, n);
}
void softmax_backward(const float* p, const float* dp, float s, float* dx, int64_t n) {
  HWY_DYNAMIC_DISPATCH(SoftmaxBackward)(p, dp, s, dx, n);
}
bool all_finite(const float* x, int64_t n) {
  return HWY_DYNAMIC_DISPATCH(AllFinite)(x, n);
}
bool all_finite(const float* x, int64_t count, int64_t n, int64_t distance) {
  return HWY_DYNAMIC_DISPATCH(AllFiniteRows)(x, count, n, distance);
}
void adam(const AdamStep& step, float* weight, const float* grad, float* moment1, float* moment2, int64_t n) {
  HWY_DYNAMIC_DISPATCH(Adam)(step, weight, grad, moment1, moment2, n);
}

}  // namespace tril::rows
#endif
