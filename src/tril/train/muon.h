// muon: one step of Muon (Jordan et al. 2024) for a matrix W [R, C] of the model's inside. With g the clipped
// gradient and u the momentum μ that looks one step ahead (Nesterov):
//   m ← m + (1 − μ)(g − m),   u = g + μ (m − g)
//   X ← u / ‖u‖, five times:   A = X Xᵀ,   X ← a X + (b A + c A A) X      (a, b, c) = (3.4445,
//   −4.7750, 2.0315) W ← W (1 − lr · weight_decay) − lr √max(1, R/C) X
// The five rounds send every singular value of u near 1 (0.68 … 1.14) and leave its directions as they are.
#pragma once
#include "tril/autograd/parameters.h"

namespace tril {

struct MuonStep {
  double rate, momentum, weight_decay;
  double grad_scale;  // clipping: every gradient is multiplied by it first
};

/// True for matrices between embedding and vocabulary head. What else there is (token and position rows, the
/// head, vectors) is not a map from rows to rows, and is left to AdamW.
bool muon_takes(const ParameterInfo& parameter);

/// The plain loops. All are [rows, cols]; `gradient` and `scratch` are overwritten.
template <class T>
void muon_step(const MuonStep& step, int64_t rows, int64_t cols, T* weight, T* gradient, T* momentum,
               T* scratch);
/// The same by oneDNN and row primitives, in the caller's thread.
void muon_step_fast(const MuonStep& step, int64_t rows, int64_t cols, float* weight, float* gradient,
                    float* momentum, float* scratch);

}  // namespace tril
