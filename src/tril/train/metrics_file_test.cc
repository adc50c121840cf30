#include "tril/train/metrics_file.h"

#include <gtest/gtest.h>

#include "tril/base/error.h"
#include "tril/base/folder_testing.h"

namespace tril {
namespace {

TEST(MetricsFile, ALineHasAnIntegerStep) {
  EXPECT_EQ(metrics_step("{\"step\": 12, \"lr\": 0.1}"), 12);
  for (const char* other : {"", "{", "[1]", "{}", "{\"step\": 1.5}", "{\"step\": \"1\"}"})
    EXPECT_EQ(metrics_step(other), std::nullopt) << other;
}

// The mark is that of the bytes, however they came: appended, found, or left after a cut.
TEST(MetricsFile, ItsMarkIsThatOfTheFile) {
  const TestFolder folder("metrics_mark");
  const std::string path = folder.at("m");
  MetricsFile file(path);
  EXPECT_EQ(file.mark().lines, 0);
  EXPECT_EQ(file.mark().sha256, sha256_hex(""));
  for (const char* line : {"{\"step\":1}", "{\"step\":2}", "{\"step\":3}"}) {
    file.append(line);
    EXPECT_EQ(file.mark().sha256, sha256_hex(read_file(path)));
  }
  EXPECT_EQ(file.mark().lines, 3);
  EXPECT_EQ(MetricsFile(path).mark().sha256, file.mark().sha256);
  testing::internal::CaptureStderr();
  file.cut_back(2, std::nullopt);
  testing::internal::GetCapturedStderr();
  EXPECT_EQ(read_file(path), "{\"step\":1}\n{\"step\":2}\n");
  EXPECT_EQ(file.mark().sha256, sha256_hex(read_file(path)));
  file.append("{\"step\":3}");
  EXPECT_EQ(file.mark().sha256, sha256_hex(read_file(path)));
  EXPECT_EQ(file.mark().lines, 3);
}

TEST(MetricsFile, APipeIsRefused) {
  EXPECT_THROW(MetricsFile("/dev/null"), Refusal);
}

}  // namespace
}  // namespace tril
