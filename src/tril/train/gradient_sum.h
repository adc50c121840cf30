// gradient_sum: the gradients of all ranks, added up while backward still runs. The flat buffer is cut into
// buckets, from its end to its start, as backward comes to them; a bucket's sum begins when the gradients in
// it are final, in the same order on every rank (Li et al. 2020, "PyTorch Distributed", section 3.2). What it
// leaves out: the mean; losses are weighed before (train/trainer.cc).
#pragma once
#include <cstdint>
#include <vector>

#include "tril/autograd/parameters.h"
#include "tril/autograd/tape.h"
#include "tril/train/ranks.h"

namespace tril {

/// Seconds and bytes of the sums so far.
struct SumTimes {
  int64_t steps = 0;
  double bytes = 0;   // of gradients that were summed
  double waited = 0;  // seconds after backward until the sum was there
};

/// Frozen parameters are left out.
class GradientSum : public BackwardWatch {
 public:
  static constexpr int64_t kBucketBytes = int64_t{4} << 20;
  GradientSum(const Parameters& parameters, Ranks& ranks, int64_t bucket_bytes = kBucketBytes);

  /// A step's gradients are about to come.
  void begin();
  void gradient_is_final(int parameter) override;
  void record_has_run() override;
  /// Begins what is left and waits for all of it.
  void finish();

  const SumTimes& times() const { return times_; }
  size_t buckets() const { return buckets_.size(); }

 private:
  struct Bucket {
    int64_t first, end;   // numbers of the flat buffer
    int parameters;       // in it
    int first_parameter;  // of them
    int missing = 0;      // of them, still without a final gradient
  };
  void send_ready();

  const Parameters& parameters_;
  Ranks& ranks_;
  std::vector<Bucket> buckets_;  // in the order in which they are sent
  std::vector<int> bucket_of_;   // by parameter; −1: frozen
  size_t sent_ = 0;
  SumTimes times_;
};

}  // namespace tril
