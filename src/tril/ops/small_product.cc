#include "tril/ops/small_product.h"

#include <algorithm>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "tril/ops/small_product.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
//
#include "tril/ops/rows_inl.h"

HWY_BEFORE_NAMESPACE();
namespace tril::rows::HWY_NAMESPACE {

// The last, partial vector of a row of b and c goes through Rest; a whole one through plain loads.
struct Whole {
  HWY_INLINE V load(const float* x) const { return hn::LoadU(D(), x); }
  HWY_INLINE void store(V v, float* y) const { hn::StoreU(v, D(), y); }
};

template <class Part>
HWY_INLINE void put(const SmallProduct& p, const Part& part, V sum, float* c) {
  const V scaled = hn::Mul(sum, hn::Set(D(), p.alpha));
  part.store(p.add ? hn::Add(part.load(c), scaled) : scaled, c);
}

// Rows i … i + 3 of c in two vectors of columns, the second of which may be partial.
template <class Part>
HWY_INLINE void four_by_two(const SmallProduct& p, const Part& part, const float* a, const float* b,
                            float* c) {
  const D d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  V s00 = hn::Zero(d), s01 = s00, s10 = s00, s11 = s00, s20 = s00, s21 = s00, s30 = s00, s31 = s00;
  for (int64_t k = 0; k < p.k; ++k) {
    const float* row = b + k * p.b_row;
    const V b0 = hn::LoadU(d, row), b1 = part.load(row + lanes);
    const float* column = a + k * p.a_col;
    const V a0 = hn::Set(d, column[0]), a1 = hn::Set(d, column[p.a_row]),
            a2 = hn::Set(d, column[2 * p.a_row]), a3 = hn::Set(d, column[3 * p.a_row]);
    s00 = hn::MulAdd(a0, b0, s00), s01 = hn::MulAdd(a0, b1, s01);
    s10 = hn::MulAdd(a1, b0, s10), s11 = hn::MulAdd(a1, b1, s11);
    s20 = hn::MulAdd(a2, b0, s20), s21 = hn::MulAdd(a2, b1, s21);
    s30 = hn::MulAdd(a3, b0, s30), s31 = hn::MulAdd(a3, b1, s31);
  }
  const Whole whole;
  put(p, whole, s00, c), put(p, part, s01, c + lanes);
  put(p, whole, s10, c + p.c_row), put(p, part, s11, c + p.c_row + lanes);
  put(p, whole, s20, c + 2 * p.c_row), put(p, part, s21, c + 2 * p.c_row + lanes);
  put(p, whole, s30, c + 3 * p.c_row), put(p, part, s31, c + 3 * p.c_row + lanes);
}

template <class Part>
HWY_INLINE void four_by_one(const SmallProduct& p, const Part& part, const float* a, const float* b,
                            float* c) {
  const D d;
  V s0 = hn::Zero(d), s1 = s0, s2 = s0, s3 = s0;
  for (int64_t k = 0; k < p.k; ++k) {
    const V b0 = part.load(b + k * p.b_row);
    const float* column = a + k * p.a_col;
    s0 = hn::MulAdd(hn::Set(d, column[0]), b0, s0);
    s1 = hn::MulAdd(hn::Set(d, column[p.a_row]), b0, s1);
    s2 = hn::MulAdd(hn::Set(d, column[2 * p.a_row]), b0, s2);
    s3 = hn::MulAdd(hn::Set(d, column[3 * p.a_row]), b0, s3);
  }
  put(p, part, s0, c), put(p, part, s1, c + p.c_row);
  put(p, part, s2, c + 2 * p.c_row), put(p, part, s3, c + 3 * p.c_row);
}

template <class Part>
HWY_INLINE void one_by_one(const SmallProduct& p, const Part& part, const float* a, const float* b,
                           float* c) {
  V sum = hn::Zero(D());
  for (int64_t k = 0; k < p.k; ++k)
    sum = hn::MulAdd(hn::Set(D(), a[k * p.a_col]), part.load(b + k * p.b_row), sum);
  put(p, part, sum, c);
}

// A strip of one or two vectors of columns, all rows.
template <class Part>
HWY_INLINE void strip(const SmallProduct& p, bool two, const Part& part, const float* a, const float* b,
                      float* c) {
  int64_t i = 0;
  for (; i + 4 <= p.m; i += 4) {
    if (two) {
      four_by_two(p, part, a + i * p.a_row, b, c + i * p.c_row);
    } else {
      four_by_one(p, part, a + i * p.a_row, b, c + i * p.c_row);
    }
  }
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(D()));
  for (; i < p.m; ++i) {
    const float* row = a + i * p.a_row;
    if (two) one_by_one(p, Whole(), row, b, c + i * p.c_row);
    one_by_one(p, part, row, b + (two ? lanes : 0), c + i * p.c_row + (two ? lanes : 0));
  }
}

void Product(const SmallProduct& p, const float* a, const float* b, float* c) {
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(D()));
  int64_t j = 0;
  for (; j + 2 * lanes <= p.n; j += 2 * lanes) strip(p, true, Whole(), a, b + j, c + j);
  const int64_t left = p.n - j;
  if (left > lanes) {
    strip(p, true, Rest(static_cast<size_t>(left - lanes)), a, b + j, c + j);
  } else if (left == lanes) {
    strip(p, false, Whole(), a, b + j, c + j);
  } else if (left > 0) {
    strip(p, false, Rest(static_cast<size_t>(left)), a, b + j, c + j);
  }
}

}  // namespace tril::rows::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tril {
namespace rows {
HWY_EXPORT(Product);
}

void small_product(const SmallProduct& p, const float* a, const float* b, float* c) {
  using namespace rows;  // where the dispatch table stands
  HWY_DYNAMIC_DISPATCH(Product)(p, a, b, c);
}

// In squares of 16, so that neither side leaves the first cache between two of its lines.
void transpose(const float* x, int64_t rows, int64_t cols, int64_t distance, float* out) {
  constexpr int64_t kSquare = 16;
  for (int64_t r0 = 0; r0 < rows; r0 += kSquare)
    for (int64_t c0 = 0; c0 < cols; c0 += kSquare)
      for (int64_t c = c0; c < std::min(cols, c0 + kSquare); ++c)
        for (int64_t r = r0; r < std::min(rows, r0 + kSquare); ++r) out[c * rows + r] = x[r * distance + c];
}

}  // namespace tril
#endif
