// norm_narrow: norm_rows.h's two passes for rows that fit into registers: one to four whole vectors, which
// are read once. Gain and bias stay in registers over all rows, and so do the sums of their gradients. What
// it leaves out: wider and uneven rows (norm_rows.cc), threads.
#pragma once
#include <cstdint>

#include "tril/ops/norm_rows.h"

namespace tril::norm_rows {

/// Whether a row is one to four whole vectors of this machine.
bool is_narrow(int64_t cols);

/// As forward() and backward() of norm_rows.h, in one thread; gain_sum and bias_sum are added to.
void narrow_forward(Sizes s, bool center, float epsilon, const float* x, const float* gain, const float* bias,
                    Stats* stats, float* y);
void narrow_backward(Sizes s, bool center, const float* x, const float* gain, const Stats* stats,
                     const float* dy, Share<float> dx, float* gain_sum, float* bias_sum);

}  // namespace tril::norm_rows
