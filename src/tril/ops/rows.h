// Row primitives: the few loops that all fast ops are written over, vectorised once (rows.cc, Highway, chosen
// for the processor at run time). What it leaves out: threads, shapes and gradients, which belong to each op.
// Sums run in an order fixed by the vector width, so their bits depend on it and on nothing else.
#pragma once
#include <cstdint>

namespace tril::rows {

/// sum_i x[i]
float sum(const float* x, int64_t n);
/// sum_i x[i]^2, in double from blocks of 1,024.
double sum_squares(const float* x, int64_t n);
/// max_i x[i]; −∞ for n = 0. NaN spreads.
float max(const float* x, int64_t n);
/// sum_i a[i] b[i]
float dot(const float* a, const float* b, int64_t n);

/// Over `count` rows that begin `distance` numbers apart (the keys or values of one head):
/// out[j] = a sum_i x[i] y[j distance + i]
void dots(const float* x, const float* y, int64_t distance, int64_t count, int64_t n, float a, float* out);
/// y[i] += sum_j w[j] x[j distance + i]
void combine(const float* w, const float* x, int64_t distance, int64_t count, int64_t n, float* y);
/// y[j distance + i] += w[j] x[i]
void spread(const float* w, const float* x, int64_t distance, int64_t count, int64_t n, float* y);

/// y[i] = exp(x[i] − shift); returns sum_i y[i]. y may be x.
float exp_sum(const float* x, float shift, float* y, int64_t n);
/// sum_i exp(x[i] − shift), nothing kept.
float exp_sum_only(const float* x, float shift, int64_t n);
/// y[i] = a x[i]. y may be x.
void scale(const float* x, float a, float* y, int64_t n);
/// y[i] += x[i]
void accumulate(const float* x, float* y, int64_t n);
/// y[i] += a x[i]
void axpy(float a, const float* x, float* y, int64_t n);
/// y[i] += a exp(x[i] − shift)
void axpy_exp(float a, const float* x, float shift, float* y, int64_t n);
/// out[i] = a[i] + b[i]
void add(const float* a, const float* b, float* out, int64_t n);
/// y[i] = max(x[i], 0), and NaN for NaN
void relu(const float* x, float* y, int64_t n);
/// dx[i] += dy[i] where y[i] > 0
void relu_backward(const float* y, const float* dy, float* dx, int64_t n);
/// dx[i] = dy[i] where y[i] > 0, else 0
void keep_positive(const float* y, const float* dy, float* dx, int64_t n);
/// dx[i] += p[i] (dp[i] − s)
void softmax_backward(const float* p, const float* dp, float s, float* dx, int64_t n);
/// True where every x[i] is finite.
bool all_finite(const float* x, int64_t n);
/// The same of `count` rows that begin `distance` numbers apart.
bool all_finite(const float* x, int64_t count, int64_t n, int64_t distance);

/// One step of Adam or AdamW (train/optimizer.h has the formula) on n numbers.
struct AdamStep {
  float learning_rate, beta2, epsilon;
  float fresh1, fresh2;  // 1 − beta1 and 1 − beta2, rounded once from double
  float shrink;          // AdamW: the weight is multiplied by 1 − learning_rate · weight_decay
  float l2;              // Adam: weight_decay · weight is added to the gradient
  float grad_scale;      // clipping: every gradient is multiplied by it first
  float bias1;           // 1 − beta1^step
  float root_bias2;      // √(1 − beta2^step)
};
void adam(const AdamStep& step, float* weight, const float* grad, float* moment1, float* moment2, int64_t n);

}  // namespace tril::rows
