// For tests of row primitives: every vector level that this processor has, one after another.
#pragma once
#include <gtest/gtest.h>
#include <hwy/targets.h>

#include <cmath>
#include <cstdint>
#include <vector>

#include "tril/base/build_info.h"
#include "tril/ops/rows.h"

namespace tril {

/// `count` numbers between -1 and 1 that no pattern of a kernel's blocks meets twice alike.
inline std::vector<float> numbers(int64_t count, float seed) {
  std::vector<float> x(static_cast<size_t>(count));
  for (size_t i = 0; i < x.size(); ++i) x[i] = std::sin(seed + 1.3f * static_cast<float>(i));
  return x;
}

/// Calls body() once for each level, the narrowest first; the processor's best is in force again afterwards.
template <class Body>
void each_vector_level(const Body& body) {
  const auto use = [](int64_t targets) {
    hwy::SetSupportedTargetsForTest(targets);
    hwy::GetChosenTarget().DeInit();
  };
  for (const int64_t target : hwy::SupportedAndGeneratedTargets()) {
    use(target);
    SCOPED_TRACE(vector_level());
    EXPECT_EQ(vector_level(), hwy::TargetName(target));
    body();
  }
  use(0);
}

}  // namespace tril
