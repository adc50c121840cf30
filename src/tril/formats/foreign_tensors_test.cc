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

// Whole numbers and truth values would be read as weights without their scale.
TEST_F(Tensors, WhatIsNotOfRealNumbersIsNoWeight) {
  std::string bytes(8, '\1');
  std::vector<LayoutTensor> needed;
  std::vector<StoredTensor> all;
  for (const StoredType type :
       {StoredType::kBool, StoredType::kU8, StoredType::kI8, StoredType::kI16, StoredType::kU64,
        StoredType::kF16, StoredType::kBF16, StoredType::kF32, StoredType::kF64}) {
    const std::string name(name_of(type));
    all.push_back({name, type, {1}, std::string_view(bytes).substr(0, static_cast<size_t>(size_of(type)))});
    needed.push_back({name, {1}, {{"", 1}}});
  }
  write_safetensors(folder_ / "x", all, {});
  ForeignTensors tensors;
  tensors.add(std::make_unique<SafetensorsFile>(folder_ / "x"));
  EXPECT_EQ(refusal_of([&] { tensors.require(needed, "x"); }),
            "x: the tensors are not those of the model that its configuration tells; not of real numbers: "
            "'BOOL' is "
            "BOOL, 'U8' is U8, 'I8' is I8, 'I16' is I16, 'U64' is U64");
}

// A double that no float can hold becomes an infinity when it is read, and is told as one.
TEST_F(Tensors, ADoubleBeyondAFloatIsNotFinite) {
  const double number = 1e300;
  const StoredTensor tensor{"t", StoredType::kF64, {1}, {reinterpret_cast<const char*>(&number), 8}};
  write_safetensors(folder_ / "x", std::span(&tensor, 1), {});
  ForeignTensors tensors;
  tensors.add(std::make_unique<SafetensorsFile>(folder_ / "x"));
  EXPECT_EQ(not_finite(tensors),
            (std::vector<std::string>{(folder_ / "x") + ": tensor 't' holds infinities (1 of 1 elements)"}));
}

}  // namespace
}  // namespace tril
