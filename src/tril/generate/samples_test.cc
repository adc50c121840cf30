#include <gtest/gtest.h>

#include "tril/generate/samples_testing.h"

namespace tril {
namespace {

// microgpt's own samples are held against the scalar program's in tests/parity/decoder_run_test.cc.
TEST(Samples, OtherModelsDrawFromTheRunsSeed) {
  const std::vector<std::string> settings = {"data.stories=20", "data.vocabulary=100", "train.steps=3",
                                             "train.batch=4", "train.samples=2"};
  const std::vector<std::string> first = train_preset("one-head-smoke", settings).samples;
  ASSERT_EQ(first.size(), 2u);
  EXPECT_NE(first[0], first[1]);
  EXPECT_EQ(train_preset("one-head-smoke", settings).samples, first);
}

}  // namespace
}  // namespace tril
