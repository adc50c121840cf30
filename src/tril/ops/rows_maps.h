// More row primitives: the maps of activations and norms (rows_maps.cc, Highway). Like rows.h it leaves out
// threads, shapes and gradients of anything but the map itself.
#pragma once
#include <cstdint>

namespace tril::rows {

/// y[i] *= a[i]
void multiply(const float* a, float* y, int64_t n);
/// y[i] += a[i] b[i]
void multiply_add(const float* a, const float* b, float* y, int64_t n);

/// y[i] = (x[i] − mean) r
void normalize(const float* x, float mean, float r, float* y, int64_t n);
/// sum_i (x[i] − mean)^2
float sum_squared_deviations(const float* x, float mean, int64_t n);
/// dx[i] += r (dh[i] − a − b h[i])
void normalize_backward(const float* h, const float* dh, float r, float a, float b, float* dx, int64_t n);

/// y[i] = f(x[i]) and dx[i] += dy[i] f'(x[i]) for each activation; the formulas are in ops/NAME.h. y may be
/// x.
void relu2(const float* x, float* y, int64_t n);
void relu2_backward(const float* x, const float* dy, float* dx, int64_t n);
void gelu(const float* x, float* y, int64_t n);
void gelu_backward(const float* x, const float* dy, float* dx, int64_t n);
void gelu_tanh(const float* x, float* y, int64_t n);
void gelu_tanh_backward(const float* x, const float* dy, float* dx, int64_t n);
void silu(const float* x, float* y, int64_t n);
void silu_backward(const float* x, const float* dy, float* dx, int64_t n);
/// y[i] = cap tanh(x[i] / cap)
void softcap(const float* x, float cap, float* y, int64_t n);
/// dx[i] += dy[i] (1 − (y[i] / cap)^2), from the result y.
void softcap_backward(const float* y, float cap, const float* dy, float* dx, int64_t n);

}  // namespace tril::rows
