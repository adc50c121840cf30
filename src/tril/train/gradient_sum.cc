// Buckets of gradients.
#include "tril/train/gradient_sum.h"

#include <thread>

#include "tril/base/clock.h"
#include "tril/base/profile.h"

namespace tril {

GradientSum::GradientSum(const Parameters& parameters, Ranks& ranks, int64_t bucket_bytes)
    : parameters_(parameters), ranks_(ranks), bucket_of_(static_cast<size_t>(parameters.size()), -1) {
  const int64_t most = bucket_bytes / size_of(parameters.dtype());
  int64_t end = parameters.flat_values().count();  // of the parameter; gaps belong to the one before them
  bool open = false;
  for (int i = parameters.size(); i-- > 0; end = parameters.info(i).offset) {
    const ParameterInfo& info = parameters.info(i);
    if (info.frozen) {
      open = false;
      continue;
    }
    if (!open) buckets_.push_back({end, end, 0, 0});
    Bucket& bucket = buckets_.back();
    bucket.first_parameter = i;
    bucket.first = info.offset;
    ++bucket.parameters;
    bucket_of_[static_cast<size_t>(i)] = static_cast<int>(buckets_.size()) - 1;
    open = bucket.end - bucket.first < most;
  }
}

void GradientSum::begin() {
  sent_ = 0;
  for (Bucket& bucket : buckets_) bucket.missing = bucket.parameters;
}

void GradientSum::gradient_is_final(int parameter) {
  const int bucket = bucket_of_[static_cast<size_t>(parameter)];
  if (bucket < 0) return;
  --buckets_[static_cast<size_t>(bucket)].missing;
  send_ready();
}

void GradientSum::record_has_run() {
  if (sent_ > 0) ranks_.progress();
}

// grad() clears what nothing was added to; of other buckets nothing is asked yet, so that ops may still write
// there in place of adding.
void GradientSum::send_ready() {
  for (; sent_ < buckets_.size() && buckets_[sent_].missing <= 0; ++sent_) {
    const Bucket& bucket = buckets_[sent_];
    for (int i = 1; i < bucket.parameters; ++i) parameters_.grad(bucket.first_parameter + i);
    const Tensor numbers{
        {bucket.end - bucket.first}, parameters_.dtype(), parameters_.grad(bucket.first_parameter).data};
    ranks_.begin_sum(numbers);
    times_.bytes += static_cast<double>(numbers.bytes());
  }
}

void GradientSum::finish() {
  const ProfilePhase phase("sum over ranks");
  const double begun = steady_seconds();
  for (Bucket& bucket : buckets_) bucket.missing = 0;
  send_ready();
  constexpr int kEager = 2000;
  for (int tries = 0; !ranks_.progress(); ++tries)
    if (tries > kEager) std::this_thread::yield();  // ranks may be more than processors
  times_.waited += steady_seconds() - begun;
  ++times_.steps;
}

}  // namespace tril
