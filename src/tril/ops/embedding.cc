#include "tril/ops/embedding.h"

#include <algorithm>

#include "tril/base/threads.h"
#include "tril/ops/rows_by_id.h"

namespace tril {
namespace {

struct Sizes {
  int64_t rows, table_rows, width, padding_row;
};

template <class T>
void forward(Sizes s, const T* table, const int32_t* ids, T* y) {
  for (int64_t r = 0; r < s.rows; ++r)
    for (int64_t d = 0; d < s.width; ++d) y[r * s.width + d] = table[ids[r] * s.width + d];
}

template <class T>
void backward(Sizes s, const int32_t* ids, const T* dy, T* dtable) {
  for (int64_t r = 0; r < s.rows; ++r) {
    if (ids[r] == s.padding_row) continue;
    for (int64_t d = 0; d < s.width; ++d) dtable[ids[r] * s.width + d] += dy[r * s.width + d];
  }
}

void forward_fast(Sizes s, const float* table, const int32_t* ids, float* y) {
  const int64_t grain = rows_per_piece(s.width);
  parallel_for(pieces_of(s.rows, grain), [&](int64_t piece) {
    const int64_t first = piece * grain;
    rows::take(table, ids + first, std::min(grain, s.rows - first), s.width, y + first * s.width);
  });
}

// The table is cut into spans of rows; each piece reads all ids and adds those of its span, in order.
void backward_fast(Sizes s, const int32_t* ids, const float* dy, float* dtable) {
  const int64_t spans = s.rows * s.width < (1 << 15) ? 1 : 8, span = pieces_of(s.table_rows, spans);
  parallel_for(spans, [&](int64_t piece) {
    rows::add_to(dy, ids, s.rows, s.width, piece * span, (piece + 1) * span, s.padding_row, dtable);
  });
}

Shape with_width(const Shape& ids, int64_t width) {
  switch (ids.rank()) {
    case 0:
      return {width};
    case 1:
      return {ids[0], width};
    case 2:
      return {ids[0], ids[1], width};
    case 3:
      return {ids[0], ids[1], ids[2], width};
    default:
      shape_error("embedding", "ids", ids, "at most 3 dimensions");
  }
}

}  // namespace

Var embedding(Tape& tape, Var table, Var ids, int64_t padding_row) {
  const OpScope scope(tape, "embedding", {table, ids});
  if (table.shape().rank() != 2) shape_error("embedding", "table", table.shape(), "[V, D]");
  const Sizes s{ids.count(), table.dim(0), table.dim(1), padding_row};
  Var y = tape.make(with_width(ids.shape(), s.width), table.wants_grad());
  if (tape.counting()) return y;
  const int32_t* id = ids.v<int32_t>();
  if (tape.fast()) {
    forward_fast(s, table.v<float>(), id, y.v<float>());
    if (y.wants_grad()) tape.on_backward([=] { backward_fast(s, id, y.g<float>(), table.g<float>()); });
    return y;
  }
  with_real(tape.dtype(), [&](auto zero) {
    using T = decltype(zero);
    forward(s, table.v<T>(), id, y.v<T>());
    if (y.wants_grad()) tape.on_backward([=] { backward(s, id, y.g<T>(), table.g<T>()); });
  });
  return y;
}

const OpSpec embedding_spec{.name = "embedding",
                            .torch = "torch.nn.functional.embedding",
                            .arguments = {{"table"}, {"ids", true}},
                            .call =
                                [](Tape& tape, std::span<const Var> in, const Attributes& a) {
                                  return embedding(tape, in[0], in[1],
                                                   static_cast<int64_t>(attribute(a, "padding_idx", -1)));
                                },
                            .cases = {{{{5, 3}, {0}}, {}, 5},
                                      {{{1, 1}, {1}}, {}, 1},
                                      {{{7, 3}, {2, 5}}, {{"padding_idx", 0}}, 7, 0},
                                      {{{9, 17}, {4, 3}}, {{"padding_idx", 2}}, 9, 2},
                                      {{{40, 33}, {64, 20}}, {}, 40}}};

}  // namespace tril
