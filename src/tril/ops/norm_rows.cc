#include "tril/ops/norm_rows.h"

#include <algorithm>
#include <cmath>

#include "tril/base/threads.h"
#include "tril/ops/norm_narrow.h"
#include "tril/ops/op.h"
#include "tril/ops/rows.h"
#include "tril/ops/rows_maps.h"

namespace tril::norm_rows {
namespace {

constexpr int64_t kBlock = 1024;  // columns whose h and dh stay in the first cache

int64_t grain(Sizes s) {
  return rows_per_piece(2 * s.cols);
}

template <class Body>
void each_piece(Sizes s, const Body& body) {
  parallel_for(pieces(s), [&](int64_t piece) {
    body(piece, piece * grain(s), std::min(s.rows, (piece + 1) * grain(s)));
  });
}

template <class Body>
void each_block(int64_t cols, const Body& body) {
  for (int64_t start = 0; start < cols; start += kBlock) body(start, std::min(kBlock, cols - start));
}

}  // namespace

int64_t pieces(Sizes s) {
  return pieces_of(s.rows, grain(s));
}

void forward(Sizes s, bool center, float epsilon, const float* x, const float* gain, const float* bias,
             Stats* stats, float* y) {
  const float n = static_cast<float>(s.cols);
  const bool narrow = is_narrow(s.cols);
  each_piece(s, [&](int64_t, int64_t first, int64_t last) {
    if (narrow) {
      const int64_t at = first * s.cols;
      return narrow_forward({last - first, s.cols}, center, epsilon, x + at, gain, bias, stats + first,
                            y + at);
    }
    for (int64_t r = first; r < last; ++r) {
      const float* in = x + r * s.cols;
      float* out = y + r * s.cols;
      const float mean = center ? rows::sum(in, s.cols) / n : 0;
      const float square = rows::sum_squared_deviations(in, mean, s.cols) / n;
      stats[r] = {mean, 1 / std::sqrt(square + epsilon)};
      rows::normalize(in, mean, stats[r].r, out, s.cols);
      if (gain != nullptr) rows::multiply(gain, out, s.cols);
      if (bias != nullptr) rows::accumulate(bias, out, s.cols);
    }
  });
}

void backward(Sizes s, bool center, const float* x, const float* gain, const Stats* stats, const float* dy,
              Share<float> dx, float* dgain, float* dbias, float* partial) {
  const float n = static_cast<float>(s.cols);
  const bool narrow = is_narrow(s.cols);
  each_piece(s, [&](int64_t piece, int64_t first, int64_t last) {
    float* gain_sum = partial + piece * 2 * s.cols;
    float* bias_sum = gain_sum + s.cols;
    std::fill(gain_sum, gain_sum + 2 * s.cols, 0.0f);
    if (narrow) {
      const int64_t at = first * s.cols;
      return narrow_backward({last - first, s.cols}, center, x + at, gain, stats + first, dy + at,
                             {dx.at == nullptr ? nullptr : dx.at + at, dx.add}, gain_sum, bias_sum);
    }
    float h[kBlock], dh[kBlock];
    for (int64_t r = first; r < last; ++r) {
      const float* up = dy + r * s.cols;
      const auto fill = [&](int64_t start, int64_t count) {
        rows::normalize(x + r * s.cols + start, stats[r].mean, stats[r].r, h, count);
        std::copy_n(up + start, count, dh);
        if (gain != nullptr) rows::multiply(gain + start, dh, count);
      };
      float mean_dh = 0, mean_h_dh = 0;
      each_block(s.cols, [&](int64_t start, int64_t count) {
        fill(start, count);
        if (center) mean_dh += rows::sum(dh, count) / n;
        mean_h_dh += rows::dot(h, dh, count) / n;
        if (dgain != nullptr) rows::multiply_add(up + start, h, gain_sum + start, count);
      });
      if (dbias != nullptr) rows::accumulate(up, bias_sum, s.cols);
      if (dx.at == nullptr) continue;
      float* to = dx.at + r * s.cols;
      if (!dx.add) std::fill_n(to, s.cols, 0.0f);
      each_block(s.cols, [&](int64_t start, int64_t count) {
        if (s.cols > kBlock) fill(start, count);
        rows::normalize_backward(h, dh, stats[r].r, mean_dh, mean_h_dh, to + start, count);
      });
    }
  });
  for (int64_t piece = 0; piece < pieces(s); ++piece) {
    if (dgain != nullptr) rows::accumulate(partial + piece * 2 * s.cols, dgain, s.cols);
    if (dbias != nullptr) rows::accumulate(partial + (piece * 2 + 1) * s.cols, dbias, s.cols);
  }
}

}  // namespace tril::norm_rows
