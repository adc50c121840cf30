#include "tril/ops/add.h"

#include <algorithm>

#include "tril/base/threads.h"
#include "tril/ops/rows.h"

namespace tril {
namespace {

template <class T>
void forward(int64_t n, int64_t period, const T* a, const T* b, T* y) {
  for (int64_t i = 0; i < n; ++i) y[i] = a[i] + b[i % period];
}

template <class T>
void backward(int64_t n, int64_t period, const T* dy, T* da, T* db) {
  for (int64_t i = 0; i < n; ++i) {
    if (da != nullptr) da[i] += dy[i];
    if (db != nullptr) db[i % period] += dy[i];
  }
}

// Pieces are whole periods, so each reads b from its start.
void forward_fast(int64_t n, int64_t period, const float* a, const float* b, float* y) {
  const int64_t repeats = n / period, grain = rows_per_piece(period);
  if (repeats == 1) {
    parallel_for(pieces_of(n, 1 << 15), [&](int64_t piece) {
      const int64_t start = piece << 15;
      rows::add(a + start, b + start, y + start, std::min<int64_t>(1 << 15, n - start));
    });
    return;
  }
  parallel_for(pieces_of(repeats, grain), [&](int64_t piece) {
    for (int64_t r = piece * grain; r < std::min(repeats, (piece + 1) * grain); ++r)
      rows::add(a + r * period, b, y + r * period, period);
  });
}

// db is cut into columns, so that each number of it is summed by one thread, in the order of the repeats.
void backward_fast(int64_t n, int64_t period, const float* dy, Share<float> da, float* db) {
  constexpr int64_t kChunk = 1 << 15;
  if (da.at != nullptr) {
    parallel_for(pieces_of(n, kChunk), [&](int64_t piece) {
      const int64_t start = piece * kChunk, count = std::min(kChunk, n - start);
      if (da.add) return rows::accumulate(dy + start, da.at + start, count);
      std::copy_n(dy + start, count, da.at + start);
    });
  }
  if (db == nullptr) return;
  const int64_t repeats = n / period, width = std::max<int64_t>(64, rows_per_piece(repeats));
  parallel_for(pieces_of(period, width), [&](int64_t piece) {
    const int64_t start = piece * width, count = std::min(width, period - start);
    for (int64_t r = 0; r < repeats; ++r) rows::accumulate(dy + r * period + start, db + start, count);
  });
}

bool is_tail(const Shape& whole, const Shape& tail) {
  if (tail.rank() > whole.rank()) return false;
  for (int i = 1; i <= tail.rank(); ++i)
    if (tail[tail.rank() - i] != whole[whole.rank() - i]) return false;
  return true;
}

}  // namespace

Var add(Tape& tape, Var a, Var b) {
  const OpScope scope(tape, "add", {a, b});
  if (!is_tail(a.shape(), b.shape()))
    shape_error("add", "b", b.shape(), a.shape().text() + " or its trailing dimensions");
  Var y = tape.make(a.shape(), a.wants_grad() || b.wants_grad());
  if (tape.counting()) return y;
  const int64_t n = a.count(), period = b.count();
  if (n == 0) return y;
  if (tape.fast()) {
    forward_fast(n, period, a.v<float>(), b.v<float>(), y.v<float>());
    tape.on_backward([=] {
      const Share<float> da = a.share<float>();  // before b's, which may be the same
      backward_fast(n, period, y.g<float>(), da, b.g<float>());
    });
    return y;
  }
  with_real(tape.dtype(), [&](auto zero) {
    using T = decltype(zero);
    forward(n, period, a.v<T>(), b.v<T>(), y.v<T>());
    tape.on_backward([=] { backward(n, period, y.g<T>(), a.g<T>(), b.g<T>()); });
  });
  return y;
}

const OpSpec add_spec{
    .name = "add",
    .torch = "torch.add",
    .arguments = {{"a"}, {"b"}},
    .call = [](Tape& tape, std::span<const Var> in, const Attributes&) { return add(tape, in[0], in[1]); },
    .cases = {{{{0, 8}, {8}}},
              {{{1, 1}, {1, 1}}},
              {{{2, 3, 5}, {3, 5}}},
              {{{4, 7}, {7}}},
              {{{3, 2, 129}, {3, 2, 129}}}}};

}  // namespace tril
