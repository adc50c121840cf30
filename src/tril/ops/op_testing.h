// For tests of single ops: a double-precision tape, values from lists, and what backward left in them.
#pragma once
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <memory>
#include <vector>

#include "tril/ops/op.h"

namespace tril {

class OpTest : public testing::Test {
 protected:
  Tape tape{{Engine::reference, DType::f64}};

  Var real(Shape shape, std::initializer_list<double> numbers) {
    const Tensor value = tape.arena().tensor(shape, DType::f64), grad = tape.arena().zeros(shape, DType::f64);
    EXPECT_EQ(value.count(), static_cast<int64_t>(numbers.size()));
    std::copy(numbers.begin(), numbers.end(), value.as<double>());
    return tape.leaf(value, grad.data);
  }
  Var ids(Shape shape, std::initializer_list<int32_t> numbers) {
    const Tensor value = tape.arena().tensor(shape, DType::i32);
    EXPECT_EQ(value.count(), static_cast<int64_t>(numbers.size()));
    std::copy(numbers.begin(), numbers.end(), value.as<int32_t>());
    return tape.constant(value);
  }
  /// Sends `up` back from y through everything recorded.
  void send_back(Var y, std::initializer_list<double> up) {
    EXPECT_EQ(y.count(), static_cast<int64_t>(up.size()));
    std::copy(up.begin(), up.end(), y.g<double>());
    tape.backward(tape.make({}, true), 0);
  }
  static void expect(const Tensor& got, std::initializer_list<double> want, double tolerance = 1e-12) {
    ASSERT_EQ(got.count(), static_cast<int64_t>(want.size()));
    int64_t i = 0;
    for (double number : want) {
      if (std::isinf(number)) {
        EXPECT_EQ(got.at(i), number) << "at " << i;
      } else {
        EXPECT_NEAR(got.at(i), number, tolerance) << "at " << i;
      }
      ++i;
    }
  }
};

}  // namespace tril
