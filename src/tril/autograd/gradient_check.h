// gradient_check: is a gradient what it claims to be? It is held against central differences,
//   (f(x + h) − f(x − h)) / 2h,
// in double. What it leaves out: what f is; the caller gives a function of whatever it changes.
#pragma once
#include <cstdint>
#include <functional>
#include <span>

#include "tril/tensor/tensor.h"

namespace tril {

struct GradientCheck {
  int64_t compared = 0;
  int64_t left_out = 0;  // entries where ±h crosses a kink
  double largest = 0;    // of |gradient| over the tensor
  double worst = 0;      // |gradient − difference|
  int64_t worst_at = -1;
  /// The error over the tensor's largest gradient (at least 1e-8, so that an all-zero gradient is held to
  /// zero).
  double relative() const { return worst / (largest > 1e-8 ? largest : 1e-8); }
};

struct GradientCheckOptions {
  double h = 1e-4;
  std::span<const int64_t> entries = {};  // which; empty = every one
  /// Where the difference is over this share of the largest gradient, the fourth-order one at the same h
  /// decides,
  ///   (8 (f(x + h) − f(x − h)) − (f(x + 2h) − f(x − 2h))) / 12h,
  /// whose own error is far smaller where f bends sharply (layer norm of small numbers); and where that is
  /// off too, the same with h / 10. 0: never. An error below f's own rounding, 4 ulps over h, is none.
  double refine_above = 0;
  /// Optional: a fingerprint of which side of every kink the last evaluation of f was on. An entry whose
  /// fingerprint at +h or −h differs from that at x is left out and counted.
  std::function<uint64_t()> kinks = {};
};

/// `x` (f64) is changed in place, entry by entry, and put back; `grad` is df/dx as backward gave it.
GradientCheck check_gradient(const std::function<double()>& f, Tensor x, Tensor grad,
                             const GradientCheckOptions& options = {});

}  // namespace tril
