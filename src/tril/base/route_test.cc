#include "tril/base/route.h"

#include <gtest/gtest.h>

#include "tril/base/error.h"

namespace tril {
namespace {

TEST(Route, TracedNamesFindTheirStage) {
  const std::vector<std::string> names = {"loss", "blocks.3.weights", "contextual", "Q", "V", "X"};
  std::vector<std::string> found;
  for (const size_t i : find_stages(Route::kTraining, names))
    found.push_back(route_stages(Route::kTraining)[i]);
  EXPECT_EQ(found,
            (std::vector<std::string>{"embedding + position", "Q,K,V", "weights", "residual", "loss"}));
}

TEST(Route, AnUnknownStageIsRefusedWithTheNearest) {
  const std::vector<std::string> names = {"wieghts"};
  try {
    find_stages(Route::kInference, names);
    FAIL();
  } catch (const Refusal& refusal) {
    EXPECT_STREQ(refusal.what(), "'wieghts' is no stage of the inference route; the nearest is 'weights'");
  }
  const std::vector<std::string> loss = {"loss"};  // the inference route has none
  EXPECT_THROW(find_stages(Route::kInference, loss), Refusal);
}

TEST(Route, DrawsLitStagesInBrackets) {
  const std::vector<size_t> lit = {1};
  const std::string plain =
      draw_route(Route::kInference, lit, {.unicode = false, .colour = false, .width = 60});
  EXPECT_EQ(plain,
            "inference    prompt -> [ids] -> window\n"
            "             -> embedding + position -> Q,K,V -> scores\n"
            "             -> masked scores -> weights -> messages\n"
            "             -> W_O updates -> residual -> hidden -> logits\n"
            "             -> probabilities -> choose -> append -> stop\n");
  const std::string bold =
      draw_route(Route::kTraining, lit, {.unicode = true, .colour = true, .width = 1000});
  EXPECT_TRUE(bold.starts_with("training    text → \x1b[1m[tokens]\x1b[0m → ids → windows"));
}

}  // namespace
}  // namespace tril
