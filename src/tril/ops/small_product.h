// small_product: a matrix product for the sizes where a library's call and its packing cost as much as the
// work: one head's scores, the layers of a model 16 to 128 wide.
//   c[i, j] = alpha Σ_k a[i, k] b[k, j]      added to what is there where `add`
// Six rows of c meet two vectors of b at a time, so twelve sums run in registers. Each sum takes k in order:
// its bits depend on nothing else. What it leaves out: threads and large sizes (gemm.h).
#pragma once
#include <cstdint>

namespace tril {

/// a[i, k] stands at a[i a_row + k a_col], so it may be stored either way; b's rows are b_row apart, c's
/// c_row.
struct SmallProduct {
  int64_t m = 0, n = 0, k = 0;
  int64_t a_row = 0, a_col = 1, b_row = 0, c_row = 0;
  float alpha = 1;
  bool add = false;
};

void small_product(const SmallProduct& p, const float* a, const float* b, float* c);

/// out[c, r] = x[r, c]: rows `distance` apart; out is [cols, rows], its rows `rows` apart.
void transpose(const float* x, int64_t rows, int64_t cols, int64_t distance, float* out);

}  // namespace tril
