// optimizer: Adam (Kingma and Ba 2015, algorithm 1) and AdamW (Loshchilov and Hutter 2019, algorithm 2), as
// PyTorch computes them, in one pass over the flat buffers. With t the step, g the clipped gradient:
//   Adam:   g ← g + weight_decay · w             AdamW:  w ← w (1 − lr · weight_decay)
//   m ← β1 m + (1 − β1) g,   v ← β2 v + (1 − β2) g²
//   w ← w − lr / (1 − β1ᵗ) · m / (√v / √(1 − β2ᵗ) + ε)
// Clipping: g ← g · min(1, clip / (‖g‖ + 1e-6)), ‖g‖ over all that are trained. With decay = matrices, only
// parameters of two dimensions and more decay. A frozen parameter is passed by. With optimizer = muon the
// matrices inside the model take Muon's step (muon.h) at muon_learning_rate, which follows the same schedule
// as learning_rate, and the rest takes AdamW's.
#pragma once
#include <cstdint>
#include <utility>
#include <vector>

#include "tril/autograd/parameters.h"
#include "tril/autograd/tape.h"
#include "tril/train/settings.h"

namespace tril {

/// Invariants: the moments are of the parameters' type, and lie in their order; frozen parameters have none.
class Optimizer {
 public:
  Optimizer(Parameters& parameters, const TrainSettings& settings, Engine engine);

  /// The norm of all gradients. Not finite where one of them is not.
  double gradient_norm() const;
  /// One update at the given step (from 1) and rate, with gradients scaled for clipping by the given norm.
  /// The gradients of Muon's matrices are overwritten.
  void update(int64_t step, double learning_rate, double gradient_norm);

  /// The moments of a parameter that is not frozen, of its shape.
  Tensor moment1(int parameter) const { return view(moment1_, parameter); }
  /// Muon's matrices have no second moment: what stands there is scratch.
  Tensor moment2(int parameter) const { return view(moment2_, parameter); }
  bool has_moment2(int parameter) const;

 private:
  struct Span {
    int64_t offset, count, moment;  // in numbers, from the start of the parameters' and the moments' buffers
    bool decays;
  };
  struct Matrix {
    int64_t offset, rows, cols, moment;
  };
  Tensor view(const Tensor& moments, int parameter) const;
  void update_matrices(double rate, double scale);
  template <class T>
  void update_plain(const Span& span, const TrainSettings& s, double rate, double scale, int64_t step);
  void update_fast(const Span& span, const TrainSettings& s, double rate, double scale, int64_t step);

  Parameters& parameters_;
  TrainSettings settings_;
  Engine engine_;
  std::vector<Span> spans_;                          // neighbours that are treated alike are one
  std::vector<Matrix> matrices_;                     // Muon's
  std::vector<std::pair<int64_t, int64_t>> ranges_;  // of what is trained (Parameters::trained_ranges)
  std::vector<int64_t> moments_;  // where each parameter's moments begin; −1 where it is frozen
  Arena memory_;
  Tensor moment1_, moment2_;
};

}  // namespace tril
