#include "tril/model/registry.h"

#include <gtest/gtest.h>

#include "tril/base/error.h"

namespace tril {
namespace {

TEST(Registry, UnknownFamilyIsRefusedByName) {
  ModelConfig c;
  c.family = "perceptron";
  try {
    make_model(c, DType::f32);
    FAIL();
  } catch (const Refusal& e) {
    EXPECT_NE(std::string(e.what()).find("model.family 'perceptron'"), std::string::npos);
  }
}

}  // namespace
}  // namespace tril
