#include "tril/ops/gemm.h"

#include <algorithm>
#include <cassert>
#include <vector>

#include "tril/base/memory.h"
#include "tril/base/threads.h"
#include "tril/ops/rows.h"
#include "tril/ops/small_product.h"
#include "tril/ops/strip_product.h"

#ifdef TRIL_HAVE_DNNL
#include <dnnl.h>
#include <omp.h>
#else
#include <Eigen/Core>
#endif

namespace tril {
namespace {

Gemm packed(Gemm g) {
  if (g.lda == 0) g.lda = g.ta == Transpose::no ? g.k : g.m;
  if (g.ldb == 0) g.ldb = g.tb == Transpose::no ? g.n : g.k;
  if (g.ldc == 0) g.ldc = g.n;
  return g;
}

#ifdef TRIL_HAVE_DNNL
void product(const Gemm& g, const float* a, const float* b, float* c) {
  // oneDNN asks OpenMP how many threads it may start: none beside this one, whatever OMP_NUM_THREADS says.
  static thread_local const bool alone = (omp_set_num_threads(1), true);
  // Its first call writes machine code into new memory, and it crashes where it gets none.
  static const bool has_room = (require_room(size_t{32} << 20), true);
  static_cast<void>(alone && has_room);
  const dnnl_status_t status =
      dnnl_sgemm(g.ta == Transpose::yes ? 'T' : 'N', g.tb == Transpose::yes ? 'T' : 'N', g.m, g.n, g.k,
                 static_cast<float>(g.alpha), a, g.lda, b, g.ldb, static_cast<float>(g.beta), c, g.ldc);
  if (status != dnnl_success) gemm_reference(g, a, b, c);  // no memory for its packing: plain loops need none
}
#else
using Matrix = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using View = Eigen::Map<const Matrix, 0, Eigen::OuterStride<> >;
void product(const Gemm& g, const float* a, const float* b, float* c) {
  const bool ta = g.ta == Transpose::yes, tb = g.tb == Transpose::yes;
  const View A(a, ta ? g.k : g.m, ta ? g.m : g.k, Eigen::OuterStride<>(g.lda));
  const View B(b, tb ? g.n : g.k, tb ? g.k : g.n, Eigen::OuterStride<>(g.ldb));
  Eigen::Map<Matrix, 0, Eigen::OuterStride<> > C(c, g.m, g.n, Eigen::OuterStride<>(g.ldc));
  const float alpha = static_cast<float>(g.alpha), beta = static_cast<float>(g.beta);
  if (beta == 0) {
    C.setZero();
  } else if (beta != 1) {
    C *= beta;
  }
  if (ta && tb) C.noalias() += alpha * A.transpose() * B.transpose();
  if (ta && !tb) C.noalias() += alpha * A.transpose() * B;
  if (!ta && tb) C.noalias() += alpha * A * B.transpose();
  if (!ta && !tb) C.noalias() += alpha * A * B;
}
#endif

// oneDNN packs one operand again in every call, so tiles are as large as an even share of a few threads
// allows. Rows of C from a transposed A, as in a weight's gradient, may be cut finer: 128 × 128 × 768 takes
// 102 µs as one tile, as two and as four.
constexpr int64_t kTiles = 8, kSmallestTile = 128, kSmallestAcross = 32, kWorthCutting = 1 << 20;

int64_t tile_length(int64_t length, int64_t smallest) {
  return std::max(smallest, (pieces_of(length, kTiles) + 15) / 16 * 16);
}

// A few rows against weights stored [N, K], as in a step of generation: time is reading the weights, so each
// of their rows is read once, by one thread, and meets every row of A while it is near. (oneDNN would copy
// them into an order of its own first.)
constexpr int64_t kFewRows = 4;

void few_rows(const Gemm& g, const float* a, const float* b, float* c) {
  constexpr int64_t kNumbers = 1 << 16;  // long pieces: memory is read at its best in long runs
  const int64_t grain = std::max<int64_t>(1, kNumbers / g.k);
  parallel_for(pieces_of(g.n, grain), [&](int64_t piece) {
    constexpr int64_t kNear = 64;  // rows that stay near while every row of A meets them
    for (int64_t j = piece * grain; j < std::min(g.n, (piece + 1) * grain); j += kNear) {
      const int64_t count = std::min({kNear, (piece + 1) * grain - j, g.n - j});
      for (int64_t i = 0; i < g.m; ++i) {
        float sums[kNear], *out = c + i * g.ldc + j;
        rows::dots(a + i * g.lda, b + j * g.ldb, g.ldb, count, g.k, static_cast<float>(g.alpha),
                   g.beta == 0 ? out : sums);
        for (int64_t n = 0; n < count && g.beta != 0; ++n)
          out[n] = sums[n] + static_cast<float>(g.beta) * out[n];
      }
    }
  });
}

// Products of models up to 64 wide are our own: a library's call, its packing and its spare blocks cost more
// there than the product itself (docs/decisions/016-narrow-models-in-vectors.md).
constexpr int64_t kNarrow = 64;

bool is_small(const Gemm& g) {
  return g.n <= kNarrow && (g.k <= kNarrow || g.m <= kNarrow) && (g.beta == 0 || g.beta == 1) &&
         g.m * g.n * g.k < kWorthCutting;
}

// A product of 10 µs and more in about four pieces, of whole blocks of rows: the layers of one-head-smoke,
// which gains 4% of a step on two threads.
void shared_rows(const SmallProduct& p, const float* a, const float* b, float* c) {
  constexpr int64_t kWorthSharing = 1 << 19, kBlocks = 24;
  if (p.m * p.n * p.k < kWorthSharing) return small_product(p, a, b, c);
  const int64_t grain = pieces_of(p.m, 4 * kBlocks) * kBlocks;
  parallel_for(pieces_of(p.m, grain), [&](int64_t piece) {
    SmallProduct part = p;
    const int64_t start = piece * grain;
    part.m = std::min(grain, p.m - start);
    small_product(part, a + start * p.a_row, b, c + start * p.c_row);
  });
}

void small(const Gemm& g, const float* a, const float* b, float* c) {
  SmallProduct p{.m = g.m, .n = g.n, .k = g.k, .c_row = g.ldc, .alpha = static_cast<float>(g.alpha)};
  p.a_row = g.ta == Transpose::no ? g.lda : 1, p.a_col = g.ta == Transpose::no ? 1 : g.lda;
  p.b_row = g.ldb, p.add = g.beta == 1;
  if (g.tb == Transpose::no) return shared_rows(p, a, b, c);
  static thread_local std::vector<float> turned;
  if (turned.size() < static_cast<size_t>(g.n * g.k)) turned.resize(static_cast<size_t>(g.n * g.k));
  transpose(b, g.n, g.k, g.ldb, turned.data());
  p.b_row = g.n;
  shared_rows(p, a, turned.data(), c);
}

// Weights stored [N, K] and some hundred rows: each strip of weights is turned once, for all rows of A, where
// the library packs A again for each of its tiles. With vectors of fewer than 16 numbers the library is ahead
// where the depth is large, and everywhere with more rows.
constexpr int64_t kShallow = 512, kWideStrip = 32, kLongestPiece = 384;

bool suits_strips(const Gemm& g) {
  return g.ta == Transpose::no && g.tb == Transpose::yes && g.alpha == 1 && (g.beta == 0 || g.beta == 1) &&
         g.m >= 48 && g.m <= 1024 && g.k > 0 && (g.k <= kShallow || strip_width() >= kWideStrip);
}

void strips(const Gemm& g, const float* a, const float* b, float* c) {
  const int64_t width = strip_width(), enough = kWorthCutting / 4 / (g.m * g.k),
                even = pieces_of(g.n, kTiles);
  const int64_t grain = pieces_of(std::max(enough, std::min(even, kLongestPiece)), width) * width;
  parallel_for(pieces_of(g.n, grain), [&](int64_t piece) {
    const int64_t j = piece * grain;
    StripProduct p{.m = g.m, .n = std::min(grain, g.n - j), .k = g.k};
    p.a_row = g.lda, p.b_row = g.ldb, p.c_row = g.ldc, p.b_turned = true, p.add = g.beta == 1;
    strip_product(p, a, b + j * g.ldb, c + j);
  });
}

}  // namespace

template <class T>
void gemm_reference(Gemm g, const T* a, const T* b, T* c) {
  g = packed(g);
  const auto at = [&](int64_t i, int64_t k) {
    return g.ta == Transpose::no ? a[i * g.lda + k] : a[k * g.lda + i];
  };
  const auto bt = [&](int64_t k, int64_t j) {
    return g.tb == Transpose::no ? b[k * g.ldb + j] : b[j * g.ldb + k];
  };
  for (int64_t i = 0; i < g.m; ++i) {
    for (int64_t j = 0; j < g.n; ++j) {
      T sum = 0;
      for (int64_t k = 0; k < g.k; ++k) sum += at(i, k) * bt(k, j);
      const T old = g.beta == 0 ? T{0} : static_cast<T>(g.beta) * c[i * g.ldc + j];
      c[i * g.ldc + j] = static_cast<T>(g.alpha) * sum + old;
    }
  }
}
template void gemm_reference<float>(Gemm, const float*, const float*, float*);
template void gemm_reference<double>(Gemm, const double*, const double*, double*);

void gemm_one_thread(Gemm g, const float* a, const float* b, float* c) {
  g = packed(g);
  if (g.m == 0 || g.n == 0) return;
  if (g.k == 0) return gemm_reference(g, a, b, c);
  product(g, a, b, c);
}

void gemm(Gemm g, const float* a, const float* b, float* c) {
  g = packed(g);
  if (g.m == 0 || g.n == 0) return;
  if (g.m <= kFewRows && g.ta == Transpose::no && g.tb == Transpose::yes && g.k > 0)
    return few_rows(g, a, b, c);
  if (is_small(g)) return small(g, a, b, c);
  if (suits_strips(g)) return strips(g, a, b, c);
  const bool cut_rows = g.m >= g.n;
  const int64_t smallest = cut_rows && g.ta == Transpose::yes ? kSmallestAcross : kSmallestTile;
  const int64_t length = cut_rows ? g.m : g.n, tile = tile_length(length, smallest);
  if (g.m * g.n * g.k < kWorthCutting || length <= tile) return gemm_one_thread(g, a, b, c);
  parallel_for(pieces_of(length, tile), [&](int64_t piece) {
    const int64_t start = piece * tile;
    Gemm part = g;
    (cut_rows ? part.m : part.n) = std::min(tile, length - start);
    const int64_t a_shift = !cut_rows ? 0 : g.ta == Transpose::no ? start * g.lda : start;
    const int64_t b_shift = cut_rows ? 0 : g.tb == Transpose::no ? start : start * g.ldb;
    gemm_one_thread(part, a + a_shift, b + b_shift, c + (cut_rows ? start * g.ldc : start));
  });
}

}  // namespace tril
