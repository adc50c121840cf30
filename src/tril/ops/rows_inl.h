// What the row primitives share inside Highway: sweeping over a row in whole vectors and a rest. Compiled
// once for each instruction set, so it is included by rows*.cc alone.
#include <hwy/contrib/math/math-inl.h>
#include <hwy/highway.h>

#include <cstddef>
#include <cstdint>

#if defined(TRIL_OPS_ROWS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef TRIL_OPS_ROWS_INL_H_
#undef TRIL_OPS_ROWS_INL_H_
#else
#define TRIL_OPS_ROWS_INL_H_
#endif

HWY_BEFORE_NAMESPACE();
namespace tril::rows::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
using D = hn::ScalableTag<float>;
using V = hn::Vec<D>;

// Calls vector(i) for whole vectors and tail(i, count) for what is left.
template <class Vector, class Tail>
HWY_INLINE void sweep(int64_t n, const Vector& vector, const Tail& tail) {
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(D()));
  int64_t i = 0;
  for (; i + lanes <= n; i += lanes) vector(i);
  if (i < n) tail(i, static_cast<size_t>(n - i));
}

// y[i] = f(x[i]) on whole vectors and, through LoadN/StoreN, on the rest.
template <class F>
HWY_INLINE void map1(const float* x, float* y, int64_t n, const F& f) {
  const D d;
  sweep(
      n, [&](int64_t i) { hn::StoreU(f(hn::LoadU(d, x + i)), d, y + i); },
      [&](int64_t i, size_t left) {
        HWY_ALIGN float in[HWY_MAX_BYTES / sizeof(float)] = {}, out[HWY_MAX_BYTES / sizeof(float)];
        for (size_t j = 0; j < left; ++j) in[j] = x[i + static_cast<int64_t>(j)];
        hn::Store(f(hn::Load(d, in)), d, out);
        for (size_t j = 0; j < left; ++j) y[i + static_cast<int64_t>(j)] = out[j];
      });
}

// y[i] = f(y[i], a[i])
template <class F>
HWY_INLINE void map2(const float* a, float* y, int64_t n, const F& f) {
  const D d;
  sweep(
      n, [&](int64_t i) { hn::StoreU(f(hn::LoadU(d, y + i), hn::LoadU(d, a + i)), d, y + i); },
      [&](int64_t i, size_t left) {
        HWY_ALIGN float in[HWY_MAX_BYTES / sizeof(float)] = {}, out[HWY_MAX_BYTES / sizeof(float)] = {};
        for (size_t j = 0; j < left; ++j) {
          in[j] = a[i + static_cast<int64_t>(j)];
          out[j] = y[i + static_cast<int64_t>(j)];
        }
        hn::Store(f(hn::Load(d, out), hn::Load(d, in)), d, out);
        for (size_t j = 0; j < left; ++j) y[i + static_cast<int64_t>(j)] = out[j];
      });
}

// y[i] = f(y[i], a[i], b[i])
template <class F>
HWY_INLINE void map3(const float* a, const float* b, float* y, int64_t n, const F& f) {
  const D d;
  sweep(
      n,
      [&](int64_t i) {
        hn::StoreU(f(hn::LoadU(d, y + i), hn::LoadU(d, a + i), hn::LoadU(d, b + i)), d, y + i);
      },
      [&](int64_t i, size_t left) {
        constexpr size_t kMax = HWY_MAX_BYTES / sizeof(float);
        HWY_ALIGN float in_a[kMax] = {}, in_b[kMax] = {}, out[kMax] = {};
        for (size_t j = 0; j < left; ++j) {
          const int64_t k = i + static_cast<int64_t>(j);
          in_a[j] = a[k];
          in_b[j] = b[k];
          out[j] = y[k];
        }
        hn::Store(f(hn::Load(d, out), hn::Load(d, in_a), hn::Load(d, in_b)), d, out);
        for (size_t j = 0; j < left; ++j) y[i + static_cast<int64_t>(j)] = out[j];
      });
}

}  // namespace tril::rows::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // include guard, once for each target
