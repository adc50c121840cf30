// rows_by_id: row primitives over rows of a table that ids name, for embedding.h: a call for each row would
// cost more than a narrow row. What it leaves out: threads.
#pragma once
#include <cstdint>

namespace tril::rows {

/// out[r, i] = table[ids[r], i], rows of n numbers.
void take(const float* table, const int32_t* ids, int64_t count, int64_t n, float* out);

/// table[ids[r], i] += x[r, i], in the order of r, for the ids in [first, end) other than `skipped`.
void add_to(const float* x, const int32_t* ids, int64_t count, int64_t n, int64_t first, int64_t end,
            int64_t skipped, float* table);

}  // namespace tril::rows
