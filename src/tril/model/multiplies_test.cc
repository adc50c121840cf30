#include "tril/model/multiplies.h"

#include <gtest/gtest.h>

namespace tril {
namespace {

// window_attention, d 2, hidden 3, window 4, V 5: K and V 4·2·4 = 32, Q 4, attention 4·4 = 16, O 4, hidden 6,
// head 15.
TEST(Multiplies, ByHand) {
  ModelConfig c;
  c.d_model = 2, c.hidden = 3, c.context = 4, c.vocab_size = 5;
  EXPECT_EQ(forward_multiplies(c, 4), 32 + 4 + 16 + 4 + 6 + 15);
  EXPECT_EQ(training_multiplies(c, 4), 3 * 77);
  c.family = "window_mlp";
  EXPECT_EQ(forward_multiplies(c, 4), 4 * 2 * 3 + 15);
  // One layer over a block of 3: Q, K, V, O 4 each, (3 + 1)/2 = 2 positions seen by 4 numbers, MLP 12,
  // head 10.
  c.family = "decoder";
  EXPECT_EQ(forward_multiplies(c, 3), 4 * 4 + 2 * 4 + 12 + 10);
}

}  // namespace
}  // namespace tril
