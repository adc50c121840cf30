#include "tril/ops/small_product.h"

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

// Where a's numbers for R rows of c stand, as k runs. Stored across (a_row = 1) they lie side by side; else
// four rows are reached from one pointer, so that the pointers of eight fit into registers.
template <int R, bool kAcross>
class Column {
 public:
  HWY_INLINE Column(const SmallProduct& p, const float* a)
      : low_(a), high_(a + 4 * p.a_row), row_(p.a_row), three_rows_(3 * p.a_row), step_(p.a_col) {}
  HWY_INLINE float at(int r) const {
    if constexpr (kAcross) return low_[r];
    const float* from = r < 4 ? low_ : high_;
    return from[r % 4 == 3 ? three_rows_ : r % 4 * row_];
  }
  HWY_INLINE void next() {
    low_ += step_;
    if constexpr (R > 4 && !kAcross) high_ += step_;
  }

 private:
  const float *low_, *high_;
  int64_t row_, three_rows_, step_;
};

// R rows of c in C vectors of columns, the last of which may be partial.
template <bool kAcross, int R, int C, class Part>
HWY_INLINE void block(const SmallProduct& p, const Part& part, const float* a, const float* b, float* c) {
  const D d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d)), b_row = p.b_row;
  const Whole whole;
  V sums[R][C];
  for (int r = 0; r < R; ++r)
    for (int v = 0; v < C; ++v) sums[r][v] = hn::Zero(d);
  Column<R, kAcross> column(p, a);
  for (int64_t k = p.k; k > 0; --k, b += b_row, column.next()) {
    V of_b[C];
    for (int v = 0; v < C; ++v) of_b[v] = v + 1 < C ? whole.load(b + v * lanes) : part.load(b + v * lanes);
    for (int r = 0; r < R; ++r) {
      const V of_a = hn::Set(d, column.at(r));
      for (int v = 0; v < C; ++v) sums[r][v] = hn::MulAdd(of_a, of_b[v], sums[r][v]);
    }
  }
  for (int r = 0; r < R; ++r)
    for (int v = 0; v < C; ++v) {
      float* to = c + r * p.c_row + v * lanes;
      v + 1 < C ? put(p, whole, sums[r][v], to) : put(p, part, sums[r][v], to);
    }
}

// The `rows` left over, fewer than R.
template <bool kAcross, int R, int C, class Part>
HWY_INLINE void rest_of_block(int64_t rows, const SmallProduct& p, const Part& part, const float* a,
                              const float* b, float* c) {
  if constexpr (R > 1) {
    if (rows == R - 1) return block<kAcross, R - 1, C>(p, part, a, b, c);
    rest_of_block<kAcross, R - 1, C>(rows, p, part, a, b, c);
  }
}

// A strip of C vectors of columns, all rows, R at a time: as many sums as hide an addition's latency.
template <bool kAcross, int R, int C, class Part>
HWY_INLINE void strip_stored(const SmallProduct& p, const Part& part, const float* a, const float* b,
                             float* c) {
  int64_t i = 0;
  for (; i + R <= p.m; i += R) block<kAcross, R, C>(p, part, a + i * p.a_row, b, c + i * p.c_row);
  rest_of_block<kAcross, R, C>(p.m - i, p, part, a + i * p.a_row, b, c + i * p.c_row);
}

template <int R, int C, class Part>
HWY_INLINE void strip(const SmallProduct& p, const Part& part, const float* a, const float* b, float* c) {
  p.a_row == 1 ? strip_stored<true, R, C>(p, part, a, b, c) : strip_stored<false, R, C>(p, part, a, b, c);
}

void Product(const SmallProduct& p, const float* a, const float* b, float* c) {
  constexpr int kTall = 8, kWide = 6;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(D()));
  int64_t j = 0;
  for (; j + 2 * lanes <= p.n; j += 2 * lanes) strip<kWide, 2>(p, Whole(), a, b + j, c + j);
  const int64_t left = p.n - j;
  if (left > lanes) {
    strip<kWide, 2>(p, Rest(static_cast<size_t>(left - lanes)), a, b + j, c + j);
  } else if (left == lanes) {
    strip<kTall, 1>(p, Whole(), a, b + j, c + j);
  } else if (left > 0) {
    strip<kTall, 1>(p, Rest(static_cast<size_t>(left)), a, b + j, c + j);
  }
}

#if HWY_TARGET != HWY_SCALAR
// Four rows of four columns turned. Out's rows are `height` apart.
HWY_INLINE void turn_square(const float* x, int64_t distance, float* out, int64_t height) {
  const hn::FixedTag<float, 4> d;
  const hn::RepartitionToWide<decltype(d)> wide;
  const auto r0 = hn::LoadU(d, x), r1 = hn::LoadU(d, x + distance), r2 = hn::LoadU(d, x + 2 * distance),
             r3 = hn::LoadU(d, x + 3 * distance);
  const auto low01 = hn::BitCast(wide, hn::InterleaveLower(d, r0, r1)),
             low23 = hn::BitCast(wide, hn::InterleaveLower(d, r2, r3)),
             high01 = hn::BitCast(wide, hn::InterleaveUpper(d, r0, r1)),
             high23 = hn::BitCast(wide, hn::InterleaveUpper(d, r2, r3));
  hn::StoreU(hn::BitCast(d, hn::InterleaveLower(wide, low01, low23)), d, out);
  hn::StoreU(hn::BitCast(d, hn::InterleaveUpper(wide, low01, low23)), d, out + height);
  hn::StoreU(hn::BitCast(d, hn::InterleaveLower(wide, high01, high23)), d, out + 2 * height);
  hn::StoreU(hn::BitCast(d, hn::InterleaveUpper(wide, high01, high23)), d, out + 3 * height);
}
#endif

void Turn(const float* x, int64_t rows, int64_t cols, int64_t distance, float* out) {
#if HWY_TARGET == HWY_SCALAR
  const int64_t whole_rows = 0, whole_cols = 0;
#else
  // In squares of 16, so that neither side leaves the first cache between two of its lines.
  constexpr int64_t kSquare = 16;
  const int64_t whole_rows = rows / 4 * 4, whole_cols = cols / 4 * 4;
  for (int64_t r0 = 0; r0 < whole_rows; r0 += kSquare)
    for (int64_t c0 = 0; c0 < whole_cols; c0 += kSquare)
      for (int64_t r = r0; r < HWY_MIN(whole_rows, r0 + kSquare); r += 4)
        for (int64_t c = c0; c < HWY_MIN(whole_cols, c0 + kSquare); c += 4)
          turn_square(x + r * distance + c, distance, out + c * rows + r, rows);
#endif
  for (int64_t r = 0; r < rows; ++r)
    for (int64_t c = r < whole_rows ? whole_cols : 0; c < cols; ++c) out[c * rows + r] = x[r * distance + c];
}

}  // namespace tril::rows::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tril {
namespace rows {
HWY_EXPORT(Product);
HWY_EXPORT(Turn);
}  // namespace rows

void small_product(const SmallProduct& p, const float* a, const float* b, float* c) {
  using namespace rows;  // where the dispatch table stands
  HWY_DYNAMIC_DISPATCH(Product)(p, a, b, c);
}

void transpose(const float* x, int64_t rows, int64_t cols, int64_t distance, float* out) {
  using namespace rows;
  HWY_DYNAMIC_DISPATCH(Turn)(x, rows, cols, distance, out);
}

}  // namespace tril
#endif
