#include "tril/ops/op.h"

#include <gtest/gtest.h>

#include <stdexcept>

#include "tril/base/error.h"
#include "tril/ops/add.h"
#include "tril/ops/linear.h"

namespace tril {
namespace {

template <class Body>
std::string text_of(const Body& body) {
  try {
    body();
  } catch (const std::exception& e) {
    return e.what();
  }
  return "";
}

TEST(Op, ShapeErrorsReadWhole) {
  Tape tape;
  const auto zeros = [&](Shape shape) { return tape.constant(tape.arena().zeros(shape, DType::f32)); };
  EXPECT_EQ(text_of([&] {
              linear(tape, zeros({2, 3}), zeros({4, 5}));
            }),
            "linear: weight has shape [4, 5], expected [out, 3]");
  EXPECT_EQ(text_of([&] {
              linear(tape, zeros({2, 3}), zeros({4, 3}), zeros({3}));
            }),
            "linear: bias has shape [3], expected [4]");
  EXPECT_EQ(text_of([&] {
              add(tape, zeros({2, 3}), zeros({2}));
            }),
            "add: b has shape [2], expected [2, 3] or its trailing dimensions");
}

TEST(Op, IdsOutsideTheTableAreNamed) {
  int32_t ids[] = {0, 4, -1, 5};
  const Tensor t{{4}, DType::i32, ids};
  EXPECT_EQ(text_of([&] { require_ids("prompt", t, 5, true); }),
            "prompt: id 5 at position 3 is outside the 5 rows of the table");
  EXPECT_EQ(text_of([&] { require_ids("prompt", t, 6, false); }),
            "prompt: id -1 at position 2 is outside the 6 rows of the table");
}

}  // namespace
}  // namespace tril
