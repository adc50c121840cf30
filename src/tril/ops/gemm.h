// gemm: the one door to matrix products. The readable definition is gemm_reference; the fast one is oneDNN's
// sgemm (Eigen's product where oneDNN is missing), cut into tiles by the shape alone and run on our own
// threads, so that the bits do not depend on their number. What it leaves out: gradients (ops/linear,
// ops/matmul).
#pragma once
#include <cstdint>

namespace tril {

enum class Transpose : bool { no, yes };

/// C = alpha op(A) op(B) + beta C, all row-major.
/// Shapes: op(A) [M, K], op(B) [K, N], C [M, N]; lda, ldb, ldc are the distances between rows as stored.
/// With beta = 0, C is not read. K = 0 gives beta C.
struct Gemm {
  Transpose ta = Transpose::no, tb = Transpose::no;
  int64_t m = 0, n = 0, k = 0;
  double alpha = 1, beta = 0;
  int64_t lda = 0, ldb = 0, ldc = 0;  // 0 = packed
};

template <class T>
void gemm_reference(Gemm g, const T* a, const T* b, T* c);

/// On all threads.
void gemm(Gemm g, const float* a, const float* b, float* c);
/// In the caller's thread, uncut: for use inside parallel_for.
void gemm_one_thread(Gemm g, const float* a, const float* b, float* c);

}  // namespace tril
