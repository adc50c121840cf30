#include "tril/ops/rows_by_id.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "tril/ops/rows_by_id.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
//
#include "tril/ops/rows_inl.h"

HWY_BEFORE_NAMESPACE();
namespace tril::rows::HWY_NAMESPACE {

void Take(const float* table, const int32_t* ids, int64_t count, int64_t n, float* out) {
  for (int64_t r = 0; r < count; ++r) map1(table + ids[r] * n, out + r * n, n, [](V v) { return v; });
}

void AddTo(const float* x, const int32_t* ids, int64_t count, int64_t n, int64_t first, int64_t end,
           int64_t skipped, float* table) {
  for (int64_t r = 0; r < count; ++r) {
    const int64_t id = ids[r];
    if (id < first || id >= end || id == skipped) continue;
    map2(x + r * n, table + id * n, n, [](V old, V v) { return hn::Add(old, v); });
  }
}

}  // namespace tril::rows::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tril::rows {
HWY_EXPORT(Take);
HWY_EXPORT(AddTo);

void take(const float* table, const int32_t* ids, int64_t count, int64_t n, float* out) {
  HWY_DYNAMIC_DISPATCH(Take)(table, ids, count, n, out);
}
void add_to(const float* x, const int32_t* ids, int64_t count, int64_t n, int64_t first, int64_t end,
            int64_t skipped, float* table) {
  HWY_DYNAMIC_DISPATCH(AddTo)(x, ids, count, n, first, end, skipped, table);
}

}  // namespace tril::rows
#endif
