// norm_rows: what layer_norm and rms_norm share below their formulas: the fast passes over rows with gain and
// bias, and the sums of their gradients. With h the normalised row, y = g h + b,
//   dh = g dy,   dx += r (dh − mean dh − h mean(h dh)),   dg += sum over rows of h dy,   db += sum of dy
// where rms_norm takes no mean off, so mean dh is left out there. What it leaves out: the plain definitions.
#pragma once
#include <cstdint>

#include "tril/autograd/tape.h"

namespace tril::norm_rows {

struct Sizes {
  int64_t rows, cols;
};

/// One row's statistics, kept for backward: h = (x − mean) r.
struct Stats {
  float mean, r;
};

/// How many pieces the rows are cut into: from the shape alone.
int64_t pieces(Sizes s);

/// gain and bias may be null. center: layer_norm.
void forward(Sizes s, bool center, float epsilon, const float* x, const float* gain, const float* bias,
             Stats* stats, float* y);

/// dx.at, dgain and dbias may be null. partial [pieces, 2, cols] is scratch: a piece's sums for gain and
/// bias, which are then added in the order of the pieces.
void backward(Sizes s, bool center, const float* x, const float* gain, const Stats* stats, const float* dy,
              Share<float> dx, float* dgain, float* dbias, float* partial);

}  // namespace tril::norm_rows
