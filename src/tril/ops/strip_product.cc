#include "tril/ops/strip_product.h"

#include <type_traits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "tril/ops/strip_product.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
//
#include "tril/ops/rows_inl.h"
#include "tril/ops/small_product.h"

HWY_BEFORE_NAMESPACE();
namespace tril::rows::HWY_NAMESPACE {

// A strip of it stays in the first cache, and the rows of a in the second.
constexpr int64_t kLongestRun = 256;

// Lines of memory that will be wanted, asked for a few at a time.
class Ahead {
 public:
  Ahead(const float* start, int64_t rows, int64_t columns, int64_t distance)
      : start_(start), across_((columns + kLine - 1) / kLine), distance_(distance), left_(rows * across_) {}
  int64_t lines() const { return left_; }
  HWY_INLINE void fetch(int64_t count) {
    for (count = HWY_MIN(count, left_), left_ -= count; count > 0; --count) {
      __builtin_prefetch(start_ + line_ * kLine, 0, 2);
      if (++line_ == across_) line_ = 0, start_ += distance_;
    }
  }

 private:
  static constexpr int64_t kLine = 16;
  const float* start_;
  int64_t across_, distance_, left_, line_ = 0;
};

// Sums of R rows with two vectors. Four rows are reached from one pointer, so that all stand in registers.
template <int R>
HWY_INLINE void tile(int64_t k, const float* a, int64_t a_row, const float* strip, V (&sums)[R][2]) {
  const D d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d)), three_rows = 3 * a_row;
  for (int r = 0; r < R; ++r) sums[r][0] = sums[r][1] = hn::Zero(d);
  const float *low = a, *high = a + 4 * a_row;
  for (; k > 0; --k, strip += 2 * lanes, ++low, ++high) {
    const V left = hn::LoadU(d, strip), right = hn::LoadU(d, strip + lanes);
    for (int r = 0; r < R; ++r) {
      const float* from = r < 4 ? low : high;
      const V of_a = hn::Set(d, from[r % 4 == 3 ? three_rows : r % 4 * a_row]);
      sums[r][0] = hn::MulAdd(of_a, left, sums[r][0]);
      sums[r][1] = hn::MulAdd(of_a, right, sums[r][1]);
    }
  }
}

HWY_INLINE void put(V sum, bool add, float* c) {
  hn::StoreU(add ? hn::Add(hn::LoadU(D(), c), sum) : sum, D(), c);
}

template <int R>
HWY_INLINE void rows_of_strip(const StripProduct& p, int64_t width, const float* a, const float* strip,
                              float* c) {
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(D()));
  V sums[R][2];
  tile<R>(p.k, a, p.a_row, strip, sums);
  if (width == 2 * lanes) {
    for (int r = 0; r < R; ++r) {
      put(sums[r][0], p.add, c + r * p.c_row);
      put(sums[r][1], p.add, c + r * p.c_row + lanes);
    }
    return;
  }
  for (int r = 0; r < R; ++r) {
    HWY_ALIGN float whole[2 * HWY_MAX_BYTES / sizeof(float)];
    hn::Store(sums[r][0], D(), whole), hn::Store(sums[r][1], D(), whole + lanes);
    float* const to = c + r * p.c_row;
    for (int64_t j = 0; j < width; ++j) to[j] = p.add ? to[j] + whole[j] : whole[j];
  }
}

// All rows, as many at a time as there are registers for.
void strip_with_rows(const StripProduct& p, int64_t width, const float* a, const float* strip, float* c,
                     Ahead ahead) {
  constexpr int kRows = hn::MaxLanes(D()) >= 16 ? 8 : 6;
  const int64_t share = ahead.lines() / (p.m / kRows + 1) + 1;
  int64_t i = 0;
  const auto take = [&](auto of, int64_t count) {
    for (; i + count <= p.m; i += count) {
      ahead.fetch(share);
      rows_of_strip<decltype(of)::value>(p, width, a + i * p.a_row, strip, c + i * p.c_row);
    }
  };
  take(std::integral_constant<int, kRows>(), kRows);
  take(std::integral_constant<int, 4>(), 4);
  take(std::integral_constant<int, 1>(), 1);
}

// A strip of b as rows of two vectors, with zeros behind its last column.
void lay_out(const StripProduct& p, const float* b, int64_t width, int64_t whole, float* strip) {
  const D d;
  if (width < whole) {
    for (int64_t k = 0; k < p.k; ++k)
      for (int64_t j = 0; j < whole; ++j)
        strip[k * whole + j] = j >= width ? 0 : p.b_turned ? b[j * p.b_row + k] : b[k * p.b_row + j];
  } else if (p.b_turned) {
    transpose(b, whole, p.k, p.b_row, strip);
  } else {
    for (int64_t k = 0; k < p.k; ++k, b += p.b_row, strip += whole) {
      hn::Store(hn::LoadU(d, b), d, strip);
      hn::Store(hn::LoadU(d, b + whole / 2), d, strip + whole / 2);
    }
  }
}

void Strips(const StripProduct& p, const float* a, const float* b, float* c) {
  HWY_ALIGN float strip[kLongestRun * 2 * HWY_MAX_BYTES / sizeof(float)];
  const int64_t whole = 2 * static_cast<int64_t>(hn::Lanes(D()));
  const int64_t runs = (p.k + kLongestRun - 1) / kLongestRun, length = (p.k + runs - 1) / HWY_MAX(runs, 1);
  const auto stands = [&](int64_t k, int64_t j) {
    return b + (p.b_turned ? j * p.b_row + k : k * p.b_row + j);
  };
  for (int64_t k = 0; k < p.k; k += length)
    for (int64_t j = 0; j < p.n; j += whole) {
      StripProduct run = p;
      run.k = HWY_MIN(length, p.k - k), run.add = p.add || k > 0;
      const int64_t width = HWY_MIN(whole, p.n - j);
      lay_out(run, stands(k, j), width, whole, strip);
      const bool last = j + whole >= p.n;
      const float* const next = last ? stands(k + length, 0) : stands(k, j + whole);
      const Ahead ahead = last && k + length >= p.k ? Ahead(b, 0, 0, 0)
                          : p.b_turned              ? Ahead(next, whole, run.k, p.b_row)
                                                    : Ahead(next, run.k, whole, p.b_row);
      strip_with_rows(run, width, a + k, strip, c + j, ahead);
    }
}

int64_t Width() {
  return 2 * static_cast<int64_t>(hn::Lanes(D()));
}

}  // namespace tril::rows::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tril {
namespace rows {
HWY_EXPORT(Strips);
HWY_EXPORT(Width);
}  // namespace rows

void strip_product(const StripProduct& p, const float* a, const float* b, float* c) {
  using namespace rows;  // where the dispatch table stands
  HWY_DYNAMIC_DISPATCH(Strips)(p, a, b, c);
}

int64_t strip_width() {
  using namespace rows;
  return HWY_DYNAMIC_DISPATCH(Width)();
}

}  // namespace tril
#endif
