#include "tril/formats/foreign_tensors.h"

#include <gtest/gtest.h>

#include "tril/base/folder_testing.h"
#include "tril/formats/foreign_testing.h"

namespace tril {
namespace {

// Two files of one number each, under given names.
class Tensors : public testing::Test {
 protected:
  std::unique_ptr<SafetensorsFile> file(const std::string& name, const std::vector<std::string>& tensors) {
    static const float number[1] = {2.5};
    std::vector<StoredTensor> all;
    for (const std::string& tensor : tensors)
      all.push_back({tensor, StoredType::kF32, {1}, {reinterpret_cast<const char*>(number), 4}});
    write_safetensors(folder_ / name, all, {});
    return std::make_unique<SafetensorsFile>(folder_ / name);
  }
  TemporaryFolder folder_;
};

TEST_F(Tensors, OfSeveralFilesAreOneList) {
  ForeignTensors tensors;
  tensors.add(file("a", {"m.x", "z"}));
  tensors.add(file("b", {"m.w"}));
  ASSERT_NE(tensors.find("m.w"), nullptr);
  EXPECT_EQ(tensors.find("m.w")->file, folder_ / "b");
  EXPECT_EQ(tensors.find("m"), nullptr);
  EXPECT_EQ(tensors.bytes(), 12u);
  float number = 0;
  tensors.find("z")->to_float(std::span(&number, 1));
  EXPECT_EQ(number, 2.5f);
  EXPECT_TRUE(equal_numbers(*tensors.find("z"), *tensors.find("m.x")));
  EXPECT_EQ(refusal_of([&] { tensors.add(file("c", {"z"})); }),
            (folder_ / "c") + ": tensor 'z' is in " + (folder_ / "a") + " too");
  tensors.prefix("m.");
  EXPECT_NE(tensors.find("m.z"), nullptr);
  tensors.remove("m.z");
  EXPECT_EQ(tensors.all().size(), 2u);
}

TEST_F(Tensors, ManyWrongNamesAreCounted) {
  std::vector<std::string> names;
  for (int i = 0; i < 30; ++i) names.push_back("t" + std::to_string(i));
  ForeignTensors tensors;
  tensors.add(file("a", names));
  const std::string told = refusal_of([&] { tensors.require({}, "x"); });
  EXPECT_NE(told.find("'t26' ... (30 in all)"), std::string::npos) << told;
}

}  // namespace
}  // namespace tril
