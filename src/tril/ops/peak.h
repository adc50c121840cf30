// peak: what one core of this machine can do at most, for the kernel benchmark to hold ops against: a loop of
// nothing but fused multiply-adds on registers (multiply and add where the machine has no fused ones), and
// one of nothing but reads. What it leaves out: timing (cli/bench_kernels.cc).
#pragma once
#include <cstdint>

namespace tril::peak {

/// Runs `rounds` rounds of multiply-adds at the vector level in use; returns how many operations they were, a
/// multiplication and an addition counted as two.
double multiply_add(int64_t rounds);

/// Reads n floats once; returns a number that depends on all of them.
float read(const float* x, int64_t n);

}  // namespace tril::peak
