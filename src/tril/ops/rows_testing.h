// For tests of row primitives: every vector level that this processor has, one after another.
#pragma once
#include <gtest/gtest.h>
#include <hwy/targets.h>

#include "tril/base/build_info.h"
#include "tril/ops/rows.h"

namespace tril {

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
