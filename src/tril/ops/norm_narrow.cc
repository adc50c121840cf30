#include "tril/ops/norm_narrow.h"

#include <cmath>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "tril/ops/norm_narrow.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
//
#include "tril/ops/rows_inl.h"

HWY_BEFORE_NAMESPACE();
namespace tril::rows::HWY_NAMESPACE {
using norm_rows::Sizes;
using norm_rows::Stats;

constexpr int64_t kMostVectors = 4;

// One row, or N vectors of anything that goes with its columns.
template <int N>
struct Row {
  V part[N];
  static HWY_INLINE Row of(const float* x, float otherwise) {
    const D d;
    const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
    Row row;
    for (int i = 0; i < N; ++i)
      row.part[i] = x != nullptr ? hn::LoadU(d, x + i * lanes) : hn::Set(d, otherwise);
    return row;
  }
  HWY_INLINE void store(float* x) const {
    const int64_t lanes = static_cast<int64_t>(hn::Lanes(D()));
    for (int i = 0; i < N; ++i) hn::StoreU(part[i], D(), x + i * lanes);
  }
  HWY_INLINE float sum() const {
    V total = part[0];
    for (int i = 1; i < N; ++i) total = hn::Add(total, part[i]);
    return hn::GetLane(hn::SumOfLanes(D(), total));
  }
};

// f of the rows' vectors, one after the other.
template <int N, class F>
HWY_INLINE Row<N> each(const F& f) {
  Row<N> out;
  for (int i = 0; i < N; ++i) out.part[i] = f(i);
  return out;
}

template <int N>
void forward(Sizes s, bool center, float epsilon, const float* x, const float* gain, const float* bias,
             Stats* stats, float* y) {
  const D d;
  const float n = static_cast<float>(s.cols);
  const Row<N> g = Row<N>::of(gain, 1), b = Row<N>::of(bias, 0);
  for (int64_t r = 0; r < s.rows; ++r) {
    Row<N> row = Row<N>::of(x + r * s.cols, 0);
    const float mean = center ? row.sum() / n : 0;
    const V middle = hn::Set(d, mean);
    row = each<N>([&](int i) { return hn::Sub(row.part[i], middle); });
    const float square = each<N>([&](int i) { return hn::Mul(row.part[i], row.part[i]); }).sum() / n;
    stats[r] = {mean, 1 / std::sqrt(square + epsilon)};
    const V scale = hn::Set(d, stats[r].r);
    each<N>([&](int i) {
      return hn::MulAdd(g.part[i], hn::Mul(row.part[i], scale), b.part[i]);
    }).store(y + r * s.cols);
  }
}

template <int N>
void backward(Sizes s, bool center, const float* x, const float* gain, const Stats* stats, const float* dy,
              Share<float> dx, float* gain_sum, float* bias_sum) {
  const D d;
  const float n = static_cast<float>(s.cols);
  const Row<N> g = Row<N>::of(gain, 1);
  Row<N> dg = Row<N>::of(gain_sum, 0), db = Row<N>::of(bias_sum, 0);
  for (int64_t r = 0; r < s.rows; ++r) {
    const Row<N> in = Row<N>::of(x + r * s.cols, 0), up = Row<N>::of(dy + r * s.cols, 0);
    const V middle = hn::Set(d, stats[r].mean), scale = hn::Set(d, stats[r].r);
    const Row<N> h = each<N>([&](int i) { return hn::Mul(hn::Sub(in.part[i], middle), scale); });
    const Row<N> dh = each<N>([&](int i) { return hn::Mul(g.part[i], up.part[i]); });
    dg = each<N>([&](int i) { return hn::MulAdd(h.part[i], up.part[i], dg.part[i]); });
    db = each<N>([&](int i) { return hn::Add(up.part[i], db.part[i]); });
    if (dx.at == nullptr) continue;
    const V mean_dh = hn::Set(d, center ? dh.sum() / n : 0);
    const V mean_h_dh = hn::Set(d, each<N>([&](int i) { return hn::Mul(h.part[i], dh.part[i]); }).sum() / n);
    const Row<N> old = Row<N>::of(dx.add ? dx.at + r * s.cols : nullptr, 0);
    each<N>([&](int i) {
      const V bent = hn::NegMulAdd(h.part[i], mean_h_dh, hn::Sub(dh.part[i], mean_dh));
      return hn::MulAdd(scale, bent, old.part[i]);
    }).store(dx.at + r * s.cols);
  }
  if (gain_sum != nullptr) dg.store(gain_sum);
  if (bias_sum != nullptr) db.store(bias_sum);
}

int64_t VectorsOfRow(int64_t cols) {
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(D()));
  return cols % lanes == 0 && cols / lanes <= kMostVectors ? cols / lanes : 0;
}

void NarrowForward(Sizes s, bool center, float epsilon, const float* x, const float* gain, const float* bias,
                   Stats* stats, float* y) {
  const int64_t n = VectorsOfRow(s.cols);
  (n == 1   ? forward<1>
   : n == 2 ? forward<2>
   : n == 3 ? forward<3>
            : forward<4>)(s, center, epsilon, x, gain, bias, stats, y);
}

void NarrowBackward(Sizes s, bool center, const float* x, const float* gain, const Stats* stats,
                    const float* dy, Share<float> dx, float* gain_sum, float* bias_sum) {
  const int64_t n = VectorsOfRow(s.cols);
  (n == 1   ? backward<1>
   : n == 2 ? backward<2>
   : n == 3 ? backward<3>
            : backward<4>)(s, center, x, gain, stats, dy, dx, gain_sum, bias_sum);
}

}  // namespace tril::rows::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tril::rows {
HWY_EXPORT(VectorsOfRow);
HWY_EXPORT(NarrowForward);
HWY_EXPORT(NarrowBackward);
}  // namespace tril::rows

namespace tril::norm_rows {

bool is_narrow(int64_t cols) {
  using namespace rows;  // where the dispatch table stands
  return HWY_DYNAMIC_DISPATCH(VectorsOfRow)(cols) > 0;
}

void narrow_forward(Sizes s, bool center, float epsilon, const float* x, const float* gain, const float* bias,
                    Stats* stats, float* y) {
  using namespace rows;
  HWY_DYNAMIC_DISPATCH(NarrowForward)(s, center, epsilon, x, gain, bias, stats, y);
}

void narrow_backward(Sizes s, bool center, const float* x, const float* gain, const Stats* stats,
                     const float* dy, Share<float> dx, float* gain_sum, float* bias_sum) {
  using namespace rows;
  HWY_DYNAMIC_DISPATCH(NarrowBackward)(s, center, x, gain, stats, dy, dx, gain_sum, bias_sum);
}

}  // namespace tril::norm_rows
#endif
