#include "tril/ops/linear_cross_entropy.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "tril/base/threads.h"
#include "tril/ops/exp_rows.h"
#include "tril/ops/gemm.h"
#include "tril/ops/rows.h"
#include "tril/ops/rows_maps.h"
#include "tril/ops/shares.h"

namespace tril {
namespace {

struct Sizes {
  int64_t rows, width, vocabulary;
  double cap;
};

// ---- the definition: one row of logits at a time

template <class T>
void logits_of(const Sizes& s, const T* x, const T* w, const T* b, T* out) {
  for (int64_t v = 0; v < s.vocabulary; ++v) {
    T sum = 0;
    for (int64_t d = 0; d < s.width; ++d) sum += x[d] * w[v * s.width + d];
    if (b != nullptr) sum += b[v];
    out[v] = s.cap > 0 ? static_cast<T>(s.cap) * std::tanh(sum / static_cast<T>(s.cap)) : sum;
  }
}

template <class T>
void forward(const Sizes& s, const T* x, const T* w, const T* b, const int32_t* target, T* row, T* lse,
             T* loss) {
  *loss = 0;
  for (int64_t r = 0; r < s.rows; ++r) {
    if (target[r] < 0) continue;
    logits_of(s, x + r * s.width, w, b, row);
    T top = -std::numeric_limits<T>::infinity(), exps = 0;
    for (int64_t v = 0; v < s.vocabulary; ++v) top = std::max(top, row[v]);
    for (int64_t v = 0; v < s.vocabulary; ++v) exps += std::exp(row[v] - top);
    lse[r] = top + std::log(exps);
    *loss += lse[r] - row[target[r]];
  }
}

template <class T>
void backward(const Sizes& s, const T* x, const T* w, const T* b, const int32_t* target, const T* lse,
              T factor, T* row, T* dx, T* dw, T* db) {
  for (int64_t r = 0; r < s.rows; ++r) {
    if (target[r] < 0) continue;
    logits_of(s, x + r * s.width, w, b, row);
    for (int64_t v = 0; v < s.vocabulary; ++v) {
      const T bent = s.cap > 0 ? row[v] / static_cast<T>(s.cap) : T{0};
      const T p = factor * (std::exp(row[v] - lse[r]) - (v == target[r] ? 1 : 0)) * (1 - bent * bent);
      for (int64_t d = 0; d < s.width; ++d) {
        if (dx != nullptr) dx[r * s.width + d] += p * w[v * s.width + d];
        if (dw != nullptr) dw[v * s.width + d] += p * x[r * s.width + d];
      }
      if (db != nullptr) db[v] += p;
    }
  }
}

// ---- fast: tiles of rows × vocabulary, of a size that follows from the shape alone. Backward begins with
// the last one, which it takes as forward left it: as logits, or, where it holds everything (a small
// vocabulary) and nothing bends them, as exponentials, which are all that backward needs.

constexpr int64_t kTileRows = 2048, kTileNumbers = 1 << 22;  // 16 MB of logits
constexpr int64_t kBlock = 1024;                             // what stays in the first cache

struct Tiles {
  int64_t rows, columns;
  bool one(const Sizes& s) const { return rows >= s.rows && columns >= s.vocabulary; }
};

Tiles tiles_of(const Sizes& s) {
  const int64_t rows = std::clamp<int64_t>(s.rows, 1, kTileRows);
  const int64_t all = std::max<int64_t>(s.vocabulary, 1), count = pieces_of(all, kTileNumbers / rows);
  return {rows, count == 1 ? all : std::min(all, rows::padded(pieces_of(all, count)))};
}

struct Tile {
  int64_t row, rows, column, columns;
  int64_t distance;  // of two rows in memory
};

/// Rows of the one tile that is kept are whole vectors; others lie close.
int64_t distance_of(const Sizes& s, const Tiles& size) {
  return size.one(s) ? rows::padded(s.vocabulary) : size.columns;
}

// In order, or from the last to the first.
template <class Body>
void each_tile(const Sizes& s, bool backwards, const Body& body) {
  const Tiles size = tiles_of(s);
  const int64_t across = pieces_of(s.vocabulary, size.columns), count = pieces_of(s.rows, size.rows) * across;
  for (int64_t i = 0; i < count; ++i) {
    const int64_t n = backwards ? count - 1 - i : i;
    const int64_t r = n / across * size.rows, v = n % across * size.columns;
    body(Tile{r, std::min(size.rows, s.rows - r), v, std::min(size.columns, s.vocabulary - v),
              distance_of(s, size)});
  }
}

template <class Body>
void each_rows(const Tile& t, const Body& body) {
  const int64_t grain = rows_per_piece(8 * t.columns);
  parallel_for(pieces_of(t.rows, grain),
               [&](int64_t piece) { body(piece * grain, std::min(t.rows, (piece + 1) * grain)); });
}

template <class Body>
void each_row(const Tile& t, const Body& body) {
  each_rows(t, [&](int64_t first, int64_t end) {
    for (int64_t r = first; r < end; ++r) body(r);
  });
}

struct Values {
  const float *x, *w, *b;
  const int32_t* target;
};

void products(const Sizes& s, const Tile& t, const Values& in, float* tile) {
  gemm({.tb = Transpose::yes, .m = t.rows, .n = t.columns, .k = s.width, .ldc = t.distance},
       in.x + t.row * s.width, in.w + t.column * s.width, tile);
}

void fill_tile(const Sizes& s, const Tile& t, const Values& in, float* tile) {
  products(s, t, in, tile);
  if (in.b == nullptr && s.cap == 0) return;
  each_row(t, [&](int64_t r) {
    float* row = tile + r * t.distance;
    if (in.b != nullptr) rows::accumulate(in.b + t.column, row, t.columns);
    if (s.cap > 0) rows::softcap(row, static_cast<float>(s.cap), row, t.columns);
  });
}

/// What is taken off a row before its exponentials, so that none overflows: its largest logit.
float shift_of([[maybe_unused]] const float* row, [[maybe_unused]] int64_t columns) {
#if defined(TRIL_BREAK_HEAD_LOSS_SHIFT)
  return 0;
#else
  return rows::max(row, columns);
#endif
}

// A row's sum of exponentials runs over its tiles with the largest logit so far, and is scaled when that
// grows.
void forward_fast(const Sizes& s, const Values& in, float* tile, float* lse, float* loss) {
  double sum = 0;
  constexpr float kNone = -std::numeric_limits<float>::infinity();
  std::fill(lse, lse + s.rows, kNone);
  each_tile(s, false, [&](const Tile& t) {
    fill_tile(s, t, in, tile);
    each_row(t, [&](int64_t r) {
      const float* row = tile + r * t.distance;
      float& so_far = lse[t.row + r];
      const float top = shift_of(row, t.columns);
      const float here = top + std::log(rows::exp_sum_only(row, top, t.columns));
      const float high = std::max(so_far, here);
      so_far = so_far == kNone ? here : high + std::log(std::exp(so_far - high) + std::exp(here - high));
    });
    for (int64_t r = 0; r < t.rows; ++r) {
      const int64_t column = in.target[t.row + r] - t.column;
      if (in.target[t.row + r] >= 0 && column >= 0 && column < t.columns)
        sum -= static_cast<double>(tile[r * t.distance + column]);
    }
  });
  for (int64_t r = 0; r < s.rows; ++r)
    if (in.target[r] >= 0) sum += static_cast<double>(lse[r]);
  *loss = static_cast<float>(sum);
}

/// Of each row of the kept tile: what is taken off, the exponentials in place, their sum.
void exponentials(float* x, int64_t count, int64_t columns, float* shift, float* sum) {
#if defined(TRIL_BREAK_HEAD_LOSS_SHIFT)
  for (int64_t r = 0; r < count; ++r) {
    float* row = x + r * rows::padded(columns);
    shift[r] = shift_of(row, columns);
    sum[r] = rows::exp_sum(row, shift[r], row, columns);
  }
#else
  rows::exp_rows(x, count, columns, shift, sum);
#endif
}

// The one tile that backward will take, some rows at a time while they are near: bias, largest, exponentials,
// of which `inverse` [R] has one over their sum; `hits` [R] is room for the targets' logits.
void forward_kept(const Sizes& s, const Values& in, float* tile, float* lse, float* inverse, float* hits,
                  float* loss) {
  const Tile t{0, s.rows, 0, s.vocabulary, rows::padded(s.vocabulary)};
  products(s, t, in, tile);
  each_rows(t, [&](int64_t first, int64_t end) {
    for (int64_t r = first; r < end; ++r) {
      float* row = tile + r * t.distance;
      if (in.b != nullptr) rows::accumulate(in.b, row, t.columns);
      hits[r] = in.target[r] >= 0 ? row[in.target[r]] : 0;
    }
    exponentials(tile + first * t.distance, end - first, t.columns, lse + first, inverse + first);
    rows::accumulate_log(inverse + first, lse + first, end - first);
    for (int64_t r = first; r < end; ++r) inverse[r] = 1 / inverse[r];
  });
  double sum = 0;
  for (int64_t r = 0; r < s.rows; ++r)
    if (in.target[r] >= 0) sum += static_cast<double>(lse[r]) - static_cast<double>(hits[r]);
  *loss = static_cast<float>(sum);
}

// The rest of p for rows [first, end) of those exponentials; `inverse` is used up.
void kept_gradient(const Tile& t, const int32_t* target, float factor, int64_t first, int64_t end,
                   float* tile, float* inverse) {
  for (int64_t r = first; r < end; ++r) inverse[r] = target[r] < 0 ? 0 : factor * inverse[r];
  rows::scale_rows(inverse + first, tile + first * t.distance, end - first, t.columns);
  for (int64_t r = first; r < end; ++r)
    if (target[r] >= 0) tile[r * t.distance + target[r]] -= factor;
}

// Turns a row of logits into p, block by block.
void row_gradient(const Sizes& s, const Tile& t, int32_t target, float lse, float factor, float* row) {
  if (target < 0) {
    std::fill_n(row, t.columns, 0.0f);
    return;
  }
  for (int64_t start = 0; start < t.columns; start += kBlock) {
    const int64_t count = std::min(kBlock, t.columns - start), hit = target - t.column - start;
    float p[kBlock];
    rows::exp_sum(row + start, lse, p, count);
    rows::scale(p, factor, p, count);
    if (hit >= 0 && hit < count) p[hit] -= factor;
    if (s.cap > 0) {
      float logits[kBlock];
      std::copy_n(row + start, count, logits);
      std::fill_n(row + start, count, 0.0f);
      rows::softcap_backward(logits, static_cast<float>(s.cap), p, row + start, count);
    } else {
      std::copy_n(p, count, row + start);
    }
  }
}

void add_columns(const Tile& t, const float* tile, float* out) {
  constexpr int64_t kColumns = 256;  // each sum by one thread, in the order of the rows
  parallel_for(pieces_of(t.columns, kColumns), [&](int64_t piece) {
    const int64_t start = piece * kColumns, count = std::min(kColumns, t.columns - start);
    for (int64_t r = 0; r < t.rows; ++r) rows::accumulate(tile + r * t.distance + start, out + start, count);
  });
}

// What a tile of p gives.
void gradients(const Sizes& s, const Tile& t, const Values& in, const float* tile, Share<float> dx,
               Share<float> dw, float* db) {
  const auto beta = [](Share<float> to) { return to.add ? 1.0 : 0.0; };
  if (dx.at != nullptr)
    gemm({.m = t.rows, .n = s.width, .k = t.columns, .beta = beta(dx), .lda = t.distance}, tile,
         in.w + t.column * s.width, dx.at + t.row * s.width);
  if (dw.at != nullptr)
    gemm({.ta = Transpose::yes,
          .m = t.columns,
          .n = s.width,
          .k = t.rows,
          .beta = beta(dw),
          .lda = t.distance},
         tile, in.x + t.row * s.width, dw.at + t.column * s.width);
  if (db != nullptr) add_columns(t, tile, db + t.column);
}

enum class Held : uint8_t {
  nothing,
  logits,
  exponentials
};  // what the tile has of the last tile from forward

struct State {
  Held held = Held::nothing;
  float sent = 0;  // the factor that gradients have been sent back with already
};

void backward_fast(const Sizes& s, const Values& in, Held held, const float* lse, float* inverse,
                   float factor, float* tile, Share<float> dx, Share<float> dw, float* db) {
  each_tile(s, true, [&](const Tile& t) {
    const bool last_rows = t.row + t.rows == s.rows, last_columns = t.column + t.columns == s.vocabulary;
    if (held == Held::nothing || !last_rows || !last_columns) fill_tile(s, t, in, tile);
    each_rows(t, [&](int64_t first, int64_t end) {
      if (held == Held::exponentials) return kept_gradient(t, in.target, factor, first, end, tile, inverse);
      for (int64_t r = first; r < end; ++r)
        row_gradient(s, t, in.target[t.row + r], lse[t.row + r], factor, tile + r * t.distance);
    });
    gradients(s, t, in, tile, {dx.at, dx.add || !last_columns}, {dw.at, dw.add || !last_rows}, db);
  });
}

// ---- where it is known what backward will bring: blocks of rows, each with all its logits, which are made
// once and give the gradients at once.

constexpr int64_t kBlockNumbers = 1 << 23, kFewestRows = 64;  // with fewer, adding to dW takes longer

/// Of one block; 0 where tiles are better.
int64_t block_rows(const Sizes& s) {
  const int64_t blocks = std::max<int64_t>(2, pieces_of(s.rows * s.vocabulary, kBlockNumbers));
  const int64_t rows = pieces_of(s.rows, blocks);
  return tiles_of(s).one(s) || rows < kFewestRows ? 0 : rows;
}

// One row's lse and, in place of its logits, what backward would make of them.
float row_both_ways(const Sizes& s, const Tile& t, int32_t target, float factor, float* row) {
  const float top = shift_of(row, t.columns);
  if (s.cap > 0 || target < 0) {
    const float lse = top + std::log(rows::exp_sum_only(row, top, t.columns));
    row_gradient(s, t, target, lse, factor, row);
    return lse;
  }
  const float sum = rows::exp_sum(row, top, row, t.columns);
  rows::scale(row, factor / sum, row, t.columns);
  row[target] -= factor;
  return top + std::log(sum);
}

void both_ways(const Sizes& s, const Values& in, float factor, float* tile, float* lse, float* hits,
               Share<float> dx, Share<float> dw, float* db, float* loss) {
  const int64_t most = block_rows(s);
  double sum = 0;
  for (int64_t first = 0; first < s.rows; first += most) {
    const Tile t{first, std::min(most, s.rows - first), 0, s.vocabulary, s.vocabulary};
    fill_tile(s, t, in, tile);
    each_row(t, [&](int64_t r) {
      float* row = tile + r * t.distance;
      const int64_t at = first + r;
      hits[at] = in.target[at] >= 0 ? row[in.target[at]] : 0;
      lse[at] = row_both_ways(s, t, in.target[at], factor, row);
    });
    for (int64_t r = first; r < first + t.rows; ++r)
      if (in.target[r] >= 0) sum += static_cast<double>(lse[r]) - static_cast<double>(hits[r]);
    gradients(s, t, in, tile, dx, {dw.at, dw.add || first > 0}, db);
  }
  *loss = static_cast<float>(sum);
}

// Records the op; `share` is 1/N or 1.
void record_fast(Tape& tape, const Sizes& s, Var x, Var weight, Var bias, const int32_t* target, double share,
                 Var loss) {
  const Tiles size = tiles_of(s);
  const double promised = loss.wants_grad() ? tape.promised() : 0;
  const int64_t whole_rows = promised != 0 ? block_rows(s) : 0;
  const int64_t room = std::max(whole_rows * s.vocabulary, size.rows * distance_of(s, size));
  float* tile = tape.arena().tensor({room}, DType::f32).as<float>();
  float* lse = tape.arena().tensor({3, s.rows}, DType::f32).as<float>();
  if (tape.counting()) return;
  float *inverse = lse + s.rows, *hits = inverse + s.rows;
  State* state = new (tape.arena().allocate(sizeof(State))) State;
  const Values in{x.v<float>(), weight.v<float>(), bias.exists() ? bias.v<float>() : nullptr, target};
  const auto bias_gradient = [bias] { return bias.exists() ? bias.g<float>() : nullptr; };
  if (whole_rows > 0) {
    // As backward() will: it keeps the seed as a float.
    state->sent = static_cast<float>(static_cast<double>(static_cast<float>(promised)) * share);
    const auto [dx, dw] = shares<float>(x, weight);
    both_ways(s, in, state->sent, tile, lse, hits, dx, dw, bias_gradient(), loss.v<float>());
  } else if (size.one(s) && s.cap == 0 && loss.wants_grad()) {
    forward_kept(s, in, tile, lse, inverse, hits, loss.v<float>());
    state->held = Held::exponentials;
  } else {
    forward_fast(s, in, tile, lse, loss.v<float>());
    state->held = Held::logits;
  }
  *loss.v<float>() = static_cast<float>(*loss.v<float>() * share);
  if (!loss.wants_grad()) return;
  tape.on_backward([=] {
    const float factor = static_cast<float>(*loss.g<float>() * share) - std::exchange(state->sent, 0.0f);
    if (factor == 0 || s.rows == 0) return;
    const auto [dx, dw] = shares<float>(x, weight);
    backward_fast(s, in, state->held, lse, inverse, factor, tile, dx, dw, bias_gradient());
    state->held = Held::nothing;
  });
}

}  // namespace

CrossEntropy linear_cross_entropy(Tape& tape, Var x, Var weight, Var bias, Var targets,
                                  const LinearCrossEntropyOptions& options) {
  const OpScope scope(tape, "linear_cross_entropy", {x, weight, bias, targets});
  if (weight.shape().rank() != 2 || weight.dim(1) != x.cols())
    shape_error("linear_cross_entropy", "weight", weight.shape(), "[V, " + std::to_string(x.cols()) + "]");
  const Sizes s{x.rows(), x.cols(), weight.dim(0), options.cap};
  if (bias.exists()) require_shape("linear_cross_entropy", "bias", bias.shape(), {s.vocabulary});
  if (targets.count() != s.rows)
    shape_error("linear_cross_entropy", "targets", targets.shape(),
                std::to_string(s.rows) + " ids, one a row of x");
  const int32_t* target = targets.v<int32_t>();
  const int64_t counted = std::count_if(target, target + s.rows, [](int32_t t) { return t >= 0; });
  const double share = counted == 0                     ? 0
                       : options.reduce == Reduce::mean ? 1.0 / static_cast<double>(counted)
                                                        : 1.0;
  Var loss = tape.make({}, x.wants_grad() || weight.wants_grad() || (bias.exists() && bias.wants_grad()));
  if (tape.fast()) {
    record_fast(tape, s, x, weight, bias, target, share, loss);
    return {loss, counted};
  }
  with_real(tape.dtype(), [&](auto zero) {
    using T = decltype(zero);
    T* row = tape.arena().tensor({s.vocabulary}, tape.dtype()).template as<T>();
    T* lse = tape.arena().tensor({s.rows}, tape.dtype()).template as<T>();
    if (tape.counting()) return;
    const T* b = bias.exists() ? bias.v<T>() : nullptr;
    forward(s, x.v<T>(), weight.v<T>(), b, target, row, lse, loss.v<T>());
    *loss.v<T>() = static_cast<T>(*loss.v<T>() * share);
    if (loss.wants_grad())
      tape.on_backward([=] {
        backward(s, x.v<T>(), weight.v<T>(), b, target, lse, static_cast<T>(*loss.g<T>() * share), row,
                 x.g<T>(), weight.g<T>(), bias.exists() ? bias.g<T>() : nullptr);
      });
  });
  return {loss, counted};
}

const OpSpec linear_cross_entropy_spec{
    .name = "linear_cross_entropy",
    .torch = "torch.nn.functional.cross_entropy of linear",
    .arguments = {{"x"}, {"weight"}, {"targets", true}, {"bias", false, true}},
    .call =
        [](Tape& tape, std::span<const Var> in, const Attributes& a) {
          LinearCrossEntropyOptions options;
          options.reduce = attribute(a, "sum", 0) != 0 ? Reduce::sum : Reduce::mean;
          options.cap = attribute(a, "cap", 0);
          return linear_cross_entropy(tape, in[0], in[1], in.size() > 3 ? in[3] : Var(), in[2], options).loss;
        },
    .cases = {{{{0, 4}, {7, 4}, {0}, {}}, {}, 7},
              {{{1, 1}, {1, 1}, {1}, {1}}, {}, 1},
              {{{3, 5}, {4, 5}, {3}, {4}}, {}, 4},
              {{{2, 3, 5}, {9, 5}, {2, 3}, {}}, {{"cap", 0.7}}, 9},
              {{{5, 3}, {6, 3}, {5}, {6}}, {{"sum", 1}, {"cap", 2}}, 6},
              {{{2100, 3}, {2101, 3}, {2100}, {2101}}, {}, 2101}}};

}  // namespace tril
