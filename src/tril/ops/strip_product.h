// strip_product: a matrix product of some hundred rows with weights, which are read once: strip by strip, as
// wide as two vectors, they are laid out in the order in which they will be read, and meet all rows of a
// while they are near.
//   c[i, j] = Σ_k a[i, k] b[k, j]      added to what is there where `add`
// Each sum takes k in order, in runs of a length that follows from k alone. What it leaves out: threads, and
// few or very many rows (gemm.h).
#pragma once
#include <cstdint>

namespace tril {

/// Shapes: a [m, k], b [k, n] or, where `b_turned`, stored as [n, k]; c [m, n]; rows as far apart as told.
struct StripProduct {
  int64_t m = 0, n = 0, k = 0;
  int64_t a_row = 0, b_row = 0, c_row = 0;
  bool b_turned = false, add = false;
};

/// k is at least 1.
void strip_product(const StripProduct& p, const float* a, const float* b, float* c);
/// Of float, of two vectors.
int64_t strip_width();

}  // namespace tril
