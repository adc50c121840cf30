// Whole decoder trainings against other programs': TinyGPT's 500 steps in PyTorch (tiny_gpt.json), and
// microgpt's by the scalar Python program on two lists of names (microgpt.json).
#include <gtest/gtest.h>

#include <filesystem>

#include "../program.h"
#include "numbers.h"
#include "tril/generate/samples_testing.h"

namespace tril::parity {
namespace {

std::vector<double> stored_losses(const nlohmann::json& stored) {
  return stored["losses"].get<std::vector<double>>();
}

TEST(ParityDecoderRun, TinyGptsLossesFollowPyTorchs) {
  const auto stored = stored_losses(load("tiny_gpt"));
  for (const char* engine : {"fast", "reference"}) {
    SCOPED_TRACE(engine);
    const auto losses = train_preset("tiny-gpt-abc", {std::string("run.engine=") + engine}).losses;
    ASSERT_EQ(losses.size(), stored.size());
    EXPECT_LE(largest_difference(losses, stored), 1e-5);
    RecordProperty(std::string("largest_difference_") + engine,
                   scientific(largest_difference(losses, stored)));
  }
}

TEST(ParityDecoderRun, MicrogptsLossesAreTheScalarProgramsOnVillages) {
  const auto stored = load("microgpt")["villages"];
  ASSERT_EQ(sha256_hex(read_file(kFolder + "villages.txt")), text(stored["sha256"]));
  const std::vector<std::string> settings{"data.path=" + kFolder + "villages.txt",
                                          "train.seed=" + stored["seed"].dump(),
                                          "train.steps=" + stored["steps"].dump()};
  const auto [losses, samples] = train_preset("microgpt", settings);
  EXPECT_EQ(samples, stored["samples"].get<std::vector<std::string>>());
  EXPECT_LE(largest_difference(losses, stored_losses(stored)), 1e-12);
  RecordProperty("largest_difference_f64", scientific(largest_difference(losses, stored_losses(stored))));

  auto fast = settings;
  fast.insert(fast.end(), {"run.engine=fast", "run.dtype=f32"});
  const auto single = train_preset("microgpt", fast).losses;
  EXPECT_LE(largest_difference(single, stored_losses(stored)), 1e-5);
  RecordProperty("largest_difference_f32", scientific(largest_difference(single, stored_losses(stored))));
}

TEST(ParityDecoderRun, MicrogptsLossesAreTheScalarProgramsOnNames) {
  const std::string names = shared_folder() + "/data/names.txt";
  if (!std::filesystem::exists(names)) GTEST_SKIP() << "no shared data";
  const auto stored = load("microgpt")["names"];
  ASSERT_EQ(sha256_hex(read_file(names)), text(stored["sha256"]));
  const auto [losses, samples] = train_preset("microgpt", {"data.path=" + names});
  EXPECT_EQ(samples, stored["samples"].get<std::vector<std::string>>());
  EXPECT_LE(largest_difference(losses, stored_losses(stored)), 1e-12);
  RecordProperty("largest_difference_f64", scientific(largest_difference(losses, stored_losses(stored))));
}

}  // namespace
}  // namespace tril::parity
