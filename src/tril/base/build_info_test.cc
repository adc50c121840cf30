#include "tril/base/build_info.h"

#include <gtest/gtest.h>

namespace tril {
namespace {

TEST(BuildInfo, EveryLibraryHasAVersion) {
  EXPECT_GE(library_versions().size(), 11u);
  for (const auto& [name, version] : library_versions()) {
    ASSERT_FALSE(version.empty()) << name;
    EXPECT_TRUE(version == "none" || (version[0] >= '0' && version[0] <= '9')) << name << " " << version;
  }
  EXPECT_EQ(library_versions().front().second, onednn_version());
  EXPECT_FALSE(vector_level().empty());
}

}  // namespace
}  // namespace tril
