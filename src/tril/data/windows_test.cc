#include "tril/data/windows.h"

#include <gtest/gtest.h>

#include <random>

namespace tril {
namespace {

using Ids = std::vector<int32_t>;

Tokens of_documents(const std::vector<Ids>& documents) {
  Tokens tokens;
  for (const Ids& document : documents) {
    tokens.ids.insert(tokens.ids.end(), document.begin(), document.end());
    tokens.end_document();
  }
  return tokens;
}

TEST(Windows, EachPositionFromOneOnIsOneTarget) {
  const Tokens tokens = of_documents({{1, 10, 11, 2}, {1, 20, 2}});
  const Windows windows(tokens, 3, 0);
  ASSERT_EQ(windows.targets(), 5);
  const std::vector<Ids> contexts = {{0, 0, 1}, {0, 1, 10}, {1, 10, 11}, {0, 0, 1}, {0, 1, 20}};
  const Ids targets = {10, 11, 2, 20, 2};
  for (int64_t t = 0; t < 5; ++t) {
    Ids context(3, -1);
    EXPECT_EQ(windows.fetch(t, context.data()), targets[t]);
    EXPECT_EQ(context, contexts[t]) << "target " << t;
    EXPECT_EQ(windows.target(t), targets[t]);
  }
  EXPECT_EQ(windows.place(3).document, 1);
  EXPECT_EQ(windows.place(3).position, 1);
}

TEST(Windows, LongDocumentKeepsTheNearestIds) {
  const Tokens tokens = of_documents({{1, 5, 6, 7, 8, 2}});
  Ids context(2);
  EXPECT_EQ(Windows(tokens, 2, 0).fetch(4, context.data()), 2);
  EXPECT_EQ(context, (Ids{7, 8}));
}

TEST(Windows, NoTargets) {
  EXPECT_EQ(Windows(Tokens{}, 3, 0).targets(), 0);
  EXPECT_EQ(Windows(of_documents({{1}, {1}}), 3, 0).targets(), 0);
}

TEST(Windows, GatherIsFetchForEachTarget) {
  const Tokens tokens = of_documents({{1, 3, 2}, {1, 4, 5, 2}});
  const Windows windows(tokens, 2, 0);
  const std::vector<int64_t> which = {4, 0, 0};
  Ids contexts(6), targets(3);
  windows.gather(which, contexts.data(), targets.data());
  EXPECT_EQ(contexts, (Ids{4, 5, 0, 1, 0, 1}));
  EXPECT_EQ(targets, (Ids{2, 3, 3}));
}

TEST(Windows, AgreesWithACopyOfEveryWindow) {
  std::mt19937 random(1);
  std::vector<Ids> documents(40);
  std::vector<std::pair<Ids, int32_t>> all;  // the windows, written out
  constexpr int kContext = 4;
  for (Ids& document : documents) {
    document.assign(1 + random() % 9, 1);
    for (size_t i = 1; i < document.size(); ++i) {
      document[i] = static_cast<int32_t>(4 + random() % 50);
      Ids padded(kContext, 0);
      padded.insert(padded.end(), document.begin(), document.begin() + static_cast<std::ptrdiff_t>(i));
      all.push_back({Ids(padded.end() - kContext, padded.end()), document[i]});
    }
  }
  const Tokens tokens = of_documents(documents);
  const Windows windows(tokens, kContext, 0);
  ASSERT_EQ(windows.targets(), static_cast<int64_t>(all.size()));
  for (size_t t = 0; t < all.size(); ++t) {
    Ids context(kContext);
    ASSERT_EQ(windows.fetch(static_cast<int64_t>(t), context.data()), all[t].second) << t;
    ASSERT_EQ(context, all[t].first) << t;
  }
}

}  // namespace
}  // namespace tril
