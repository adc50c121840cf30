// What the row primitives share inside Highway: sweeping over a row in whole vectors and a rest. Compiled
// once for each instruction set, so it is included by such files alone.
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

// What is left of a row goes through one masked vector, or through a copy where a masked load might touch
// what lies behind the row.
#if HWY_MEM_OPS_MIGHT_FAULT
struct Rest {
  static constexpr size_t kMax = HWY_MAX_BYTES / sizeof(float);
  size_t count;
  explicit Rest(size_t left) : count(left) {}
  V load(const float* x) const {
    HWY_ALIGN float copy[kMax] = {};
    for (size_t j = 0; j < count; ++j) copy[j] = x[j];
    return hn::Load(D(), copy);
  }
  void store(V v, float* y) const {
    HWY_ALIGN float copy[kMax];
    hn::Store(v, D(), copy);
    for (size_t j = 0; j < count; ++j) y[j] = copy[j];
  }
};
#else
struct Rest {
  hn::Mask<D> mask;
  HWY_INLINE explicit Rest(size_t left) : mask(hn::FirstN(D(), left)) {}
  HWY_INLINE V load(const float* x) const { return hn::MaskedLoad(mask, D(), x); }
  HWY_INLINE void store(V v, float* y) const { hn::BlendedStore(v, mask, D(), y); }
};
#endif

// y[i] = f(x[i])
template <class F>
HWY_INLINE void map1(const float* x, float* y, int64_t n, const F& f) {
  const D d;
  sweep(
      n, [&](int64_t i) { hn::StoreU(f(hn::LoadU(d, x + i)), d, y + i); },
      [&](int64_t i, size_t left) {
        const Rest rest(left);
        rest.store(f(rest.load(x + i)), y + i);
      });
}

// y[i] = f(y[i], a[i])
template <class F>
HWY_INLINE void map2(const float* a, float* y, int64_t n, const F& f) {
  const D d;
  sweep(
      n, [&](int64_t i) { hn::StoreU(f(hn::LoadU(d, y + i), hn::LoadU(d, a + i)), d, y + i); },
      [&](int64_t i, size_t left) {
        const Rest rest(left);
        rest.store(f(rest.load(y + i), rest.load(a + i)), y + i);
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
        const Rest rest(left);
        rest.store(f(rest.load(y + i), rest.load(a + i), rest.load(b + i)), y + i);
      });
}

}  // namespace tril::rows::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // include guard, once for each target
