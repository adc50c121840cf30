#include "tril/train/output_place.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "tril/base/file.h"
#include "tril/train/run_folder_testing.h"

namespace tril {
namespace {

using testing::HasSubstr;
namespace fs = std::filesystem;

class OutputPlace : public testing::Test {
 protected:
  void SetUp() override {
    make_folders(folder_ / "run/checkpoints/step-00000001");
    make_folders(folder_ / "texts");
    for (const char* name : {"run/config.toml", "text.txt", "other.txt", "texts/a.txt", "texts/a.json"})
      write_file_atomically(folder_ / name, "a");
  }
  std::string refusal(const std::string& out, const std::vector<std::string>& inputs = {}) const {
    return refusal_of([&] { require_output_place(folder_ / out, inputs); });
  }

  const TemporaryFolder folder_;
};

TEST_F(OutputPlace, ARunsFilesAreItsOwn) {
  fs::create_directory_symlink(folder_ / "run", folder_ / "link");
  fs::create_symlink(folder_ / "run/config.toml", folder_ / "config");
  for (const char* out : {"run", "run/config.toml", "run/new.npz", "run/new/x.npz", "run/../run/config.toml",
                          "run/checkpoints/step-00000001/model.safetensors", "link/tokenizer.json", "config"})
    EXPECT_THAT(refusal(out), HasSubstr(out + std::string(": lies in the run "))) << out;
  EXPECT_EQ(refusal("new.npz"), "");
  EXPECT_EQ(refusal("none/new.npz"), "");
  fs::remove(folder_ / "run/config.toml");  // now it is a folder like any other
  EXPECT_EQ(refusal("run/new.npz"), "");
}

TEST_F(OutputPlace, WhatIsReadIsNotWrittenOver) {
  fs::create_symlink(folder_ / "text.txt", folder_ / "again.txt");
  for (const char* out : {"text.txt", "again.txt", "texts/../text.txt"})
    EXPECT_THAT(refusal(out, {folder_ / "none", folder_ / "text.txt"}), HasSubstr("is what is read here"))
        << out;
  EXPECT_THAT(refusal("texts/a.txt", {folder_ / "texts"}), HasSubstr("is what is read here"));
  EXPECT_EQ(refusal("texts/a.json", {folder_ / "texts"}), "");
  EXPECT_EQ(refusal("texts/b.txt", {folder_ / "texts"}), "");
  EXPECT_EQ(refusal("other.txt", {folder_ / "text.txt"}), "");
  EXPECT_EQ(refusal("new.txt", {folder_ / "new.txt"}), "");
  EXPECT_EQ(refusal_of([] { require_output_place("/dev/null", {"/dev/null"}); }), "");
}

}  // namespace
}  // namespace tril
