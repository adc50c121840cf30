#include "tril/base/module.h"

#include <gtest/gtest.h>

#include <fstream>

#include "tril/base/folder_testing.h"

namespace tril {
namespace {

TEST(Module, IsLookedForBesideTheProgramFirst) {
  const std::vector<std::string> paths = module_paths("tril_some.so");
  ASSERT_EQ(paths.size(), 3U);
  for (const std::string& path : paths) EXPECT_TRUE(path.ends_with("/tril_some.so")) << path;
  EXPECT_TRUE(paths[2].ends_with("/tril/tril_some.so"));
}

TEST(Module, AMissingOneHasNoPath) {
  const LoadedModule module = load_module({"/nowhere/tril_some.so"}, "tril_some");
  EXPECT_EQ(module.path, "");
  EXPECT_EQ(module.symbol, nullptr);
}

TEST(Module, AFileThatIsNoneSaysWhy) {
  const TemporaryFolder folder;
  std::ofstream(folder / "tril_some.so") << "no shared object";
  const LoadedModule module = load_module({"/nowhere/tril_some.so", folder / "tril_some.so"}, "tril_some");
  EXPECT_EQ(module.path, folder / "tril_some.so");
  EXPECT_FALSE(module.opened);
  EXPECT_NE(module.why, "");
}

}  // namespace
}  // namespace tril
