#include "tril/model/cache.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "tril/model/decoder_testing.h"

namespace tril {
namespace {

Tensor rows(std::vector<float>& numbers, Shape shape) {
  return {shape, DType::f32, numbers.data()};
}

TEST(Cache, AppendsBehindEachSequence) {
  Cache cache(2, 2, 3, 1, 2, DType::f32);
  EXPECT_EQ(cache.bytes(), 2 * 2 * 3 * 3 * 4);
  std::vector<float> k = {1, 2, 10, 20}, v = {1, -1, 2, -2, 10, -10, 20, -20};
  CacheView view = cache.append(1, rows(k, {2, 2, 1}), rows(v, {2, 2, 2}));
  EXPECT_EQ(view.length, 2);
  EXPECT_EQ(cache.length(), 0);
  cache.advance(2);
  std::vector<float> k3 = {3, 30}, v3 = {3, -3, 30, -30};
  view = cache.append(1, rows(k3, {2, 1, 1}), rows(v3, {2, 1, 2}));
  EXPECT_EQ(view.length, 3);
  const std::vector<double> want = {1, 2, 3, 10, 20, 30};
  for (size_t i = 0; i < 6; ++i) {
    EXPECT_EQ(view.keys.at(static_cast<int64_t>(i)), want[i]);
    EXPECT_EQ(view.values.at(static_cast<int64_t>(2 * i + 1)), -want[i]);
  }
  cache.advance(1);
  EXPECT_EQ(cache.room(), 0);
  cache.rewind(1);
  EXPECT_EQ(cache.room(), 2);
  cache.share(0);
  EXPECT_EQ(view.keys.at(3), 1);
  EXPECT_EQ(view.keys.at(4), 20);  // behind the length: not copied
}

// A step with the cache gives the rows that the whole text gives, for every kind of decoder, whether the
// prompt comes whole, in parts or token by token, and after a rewind.
template <class T>
void expect_cached_equals_uncached(const ModelConfig& config, double limit) {
  const Engine engine = std::is_same_v<T, float> ? Engine::fast : Engine::reference;
  std::unique_ptr<Model> model = drawn(config, dtype_of<T>());
  std::vector<int32_t> ids = {1, 4, 7, 2, 8, 0, 5, 5, 3, 6, 1, 1, 2, 0, 4, 8};  // two sequences of 8
  Tape whole({engine, dtype_of<T>(), false}), part({engine, dtype_of<T>(), false});
  Var all = model->forward(whole, id_tensor(ids, {2, 8}), Rows::all);
  double largest = 1;
  for (int64_t i = 0; i < all.count(); ++i) largest = std::max(largest, std::fabs(all.value().at(i)));

  std::unique_ptr<Cache> cache = model->make_cache(2, 8);
  const auto expect_step = [&](int64_t n, Rows wanted) {
    const int64_t from = cache->length();
    std::vector<int32_t> next;
    for (int64_t b = 0; b < 2; ++b)
      for (int64_t t = from; t < from + n; ++t) next.push_back(ids[static_cast<size_t>(b * 8 + t)]);
    part.reset();
    Var y = model->step(part, id_tensor(next, {2, n}), *cache, wanted);
    const int64_t rows = wanted == Rows::last ? 1 : n;
    ASSERT_EQ(y.shape(), (Shape{2, rows, 9}));
    for (int64_t b = 0; b < 2; ++b)
      for (int64_t r = 0; r < rows; ++r)
        for (int64_t v = 0; v < 9; ++v)
          ASSERT_NEAR(y.value().at((b * rows + r) * 9 + v),
                      all.value().at((b * 8 + from + n - rows + r) * 9 + v), limit * largest)
              << "position " << from + n - rows + r;
  };
  for (int t = 0; t < 8; ++t) expect_step(1, Rows::all);
  cache->rewind(3);
  expect_step(2, Rows::last);
  expect_step(3, Rows::all);
  cache->rewind(0);
  expect_step(8, Rows::all);
}

class CachedDecoder : public testing::TestWithParam<std::pair<std::string, ModelConfig>> {};

INSTANTIATE_TEST_SUITE_P(Cache, CachedDecoder, testing::ValuesIn(decoder_variants()),
                         [](const auto& info) { return info.param.first; });

TEST_P(CachedDecoder, EqualsTheWholeText) {
  if (GetParam().second.mask == "none") return;  // an encoder has no cache
  expect_cached_equals_uncached<double>(GetParam().second, 1e-12);
  expect_cached_equals_uncached<float>(GetParam().second, 1e-5);
}

}  // namespace
}  // namespace tril
