// exp_rows: row primitives over many rows at once, for losses over small vocabularies, where a call for each
// row would cost as much as the row. What it leaves out: threads and gradients (linear_cross_entropy.h).
#pragma once
#include <cstdint>

namespace tril::rows {

/// The distance at which rows of n numbers are whole vectors, whatever the machine's are. (Rows that share a
/// vector wait for one another: what the last, partial vector of one writes covers where the next begins.)
constexpr int64_t padded(int64_t n) {
  return (n + 15) / 16 * 16;
}

/// Of each of `count` rows of n numbers, padded(n) apart, in place: top[r] = max_i x[r, i], x[r, i] =
/// exp(x[r, i] − top[r]), sum[r] = sum_i of these. A NaN makes its row's top NaN. What lies between two rows
/// becomes 0.
void exp_rows(float* x, int64_t count, int64_t n, float* top, float* sum);
/// x[r, i] *= a[r], rows padded(n) apart, and what lies between them too.
void scale_rows(const float* a, float* x, int64_t count, int64_t n);
/// y[i] += log(x[i])
void accumulate_log(const float* x, float* y, int64_t n);

}  // namespace tril::rows
