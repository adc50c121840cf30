#include "tril/formats/safetensors.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "tril/base/error.h"
#include "tril/base/folder_testing.h"

namespace tril {
namespace {
using testing::AllOf;
using testing::HasSubstr;

std::string with_header(std::string_view header, std::string_view data = "", uint64_t extra_length = 0) {
  const uint64_t length = header.size() + extra_length;
  std::string bytes(8, '\0');
  std::memcpy(bytes.data(), &length, 8);
  return bytes.append(header).append(data);
}

std::string floats(std::initializer_list<float> values) {
  std::string bytes(values.size() * 4, '\0');
  std::memcpy(bytes.data(), std::data(values), bytes.size());
  return bytes;
}

std::string refusal_of(std::string_view bytes) {
  try {
    parse_safetensors(bytes, "f");
  } catch (const Refusal& refusal) {
    return refusal.what();
  }
  return "accepted";
}

const std::string kTwo = floats({1, -2});
constexpr std::string_view kOne = R"({"w":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})";

TEST(Safetensors, ReadsNamesTypesShapesAndBytes) {
  const std::string bytes = with_header(
      R"({"__metadata__":{"format":"pt","a":"b"},"b":{"data_offsets":[8,10],"dtype":"BF16","shape":[1]},)"
      R"("a":{"dtype":"F32","shape":[1,2],"data_offsets":[0,8]},"e":{"dtype":"F32","shape":[0,4],)"
      R"("data_offsets":[8,8]},"s":{"dtype":"I64","shape":[],"data_offsets":[10,18]}}  )",
      kTwo + "\x80\x3f" + std::string("\7\0\0\0\0\0\0\0", 8));
  const SafetensorsView view = parse_safetensors(bytes, "f");
  ASSERT_EQ(view.tensors.size(), 4u);
  EXPECT_EQ(view.metadata, (Metadata{{"a", "b"}, {"format", "pt"}}));
  EXPECT_EQ(view.tensors[0].name, "a");
  EXPECT_EQ(view.tensors[0].shape, (std::vector<int64_t>{1, 2}));
  EXPECT_EQ(view.tensors[0].bytes, kTwo);
  EXPECT_EQ(view.tensors[1].name, "e");
  EXPECT_EQ(elements(view.tensors[1]), 0);
  EXPECT_EQ(element(view.tensors[2], 0), 1.0);
  EXPECT_EQ(view.tensors[3].shape, std::vector<int64_t>{});
  EXPECT_EQ(element(view.tensors[3], 0), 7.0);
  EXPECT_TRUE(parse_safetensors(with_header("{}"), "f").tensors.empty());
}

TEST(Safetensors, BrokenLengths) {
  EXPECT_EQ(refusal_of(""), "f: is empty, a safetensors file is needed");
  EXPECT_THAT(refusal_of(std::string_view("\x10\0\0", 3)), HasSubstr("has 3 bytes, the length"));
  EXPECT_THAT(refusal_of(with_header("{}", "", uint64_t{1} << 63)),
              HasSubstr("claims a header of 92233720368547758"));
  EXPECT_THAT(refusal_of(with_header("{}", "", 99'999'000)), HasSubstr("but only 2 follow: the file is cut"));
  EXPECT_THAT(refusal_of(with_header("{}", "", 100'000'000)), HasSubstr("the most is 100000000"));
  EXPECT_THAT(refusal_of(with_header("")), HasSubstr("header of 0 bytes"));
  EXPECT_THAT(refusal_of(with_header(R"([{"w":1}])")), HasSubstr("does not begin with {"));
}

TEST(Safetensors, BrokenHeaders) {
  const auto tensor = [](std::string_view fields) {
    return with_header(fmt::format("{{\"w\":{{{}}}}}", fields), kTwo);
  };
  const std::string good = R"("dtype":"F32","shape":[2],"data_offsets":[0,8])";
  EXPECT_EQ(refusal_of(tensor(good)), "accepted");
  EXPECT_EQ(refusal_of(tensor(good + R"(,"dtype":"F32")")), "f: 'dtype' of 'w' occurs twice in the header");
  EXPECT_EQ(refusal_of(tensor(good + R"(,"strides":[1])")), "f: tensor 'w' has an unknown field 'strides'");
  EXPECT_EQ(refusal_of(tensor(R"("shape":[2],"data_offsets":[0,8])")), "f: tensor 'w' has no dtype");
  EXPECT_THAT(refusal_of(tensor(R"("dtype":"f32","shape":[2],"data_offsets":[0,8])")),
              HasSubstr("dtype 'f32'"));
  EXPECT_EQ(refusal_of(tensor(R"("dtype":"F32","shape":[2],"data_offsets":[0,8.0])")),
            "f: tensor 'w': data_offsets holds 8.0, not two whole numbers");
  EXPECT_THAT(refusal_of(tensor(R"("dtype":"F32","shape":[2],"data_offsets":[-8,0])")),
              HasSubstr("holds -8"));
  EXPECT_THAT(refusal_of(tensor(R"("dtype":"F32","shape":[2],"data_offsets":[0])")), HasSubstr("one number"));
  EXPECT_THAT(refusal_of(tensor(R"("dtype":"F32","shape":[2],"data_offsets":[0,8,9])")),
              HasSubstr("more than two"));
  EXPECT_THAT(refusal_of(tensor(R"("dtype":"F32","shape":[-2],"data_offsets":[0,8])")),
              HasSubstr("shape holds -2"));
  EXPECT_THAT(refusal_of(tensor(R"("dtype":"F32","shape":[2e0],"data_offsets":[0,8])")),
              HasSubstr("shape holds 2e0"));
  EXPECT_THAT(refusal_of(tensor(R"("dtype":"F32","shape":[[2]],"data_offsets":[0,8])")), HasSubstr("a list"));
  EXPECT_THAT(refusal_of(tensor(R"("dtype":"F32","shape":[99999999999999999999],"data_offsets":[0,8])")),
              HasSubstr("shape holds 99999999999999999999"));
  EXPECT_THAT(refusal_of(tensor(R"("dtype":"F32","shape":[18446744073709551615],"data_offsets":[0,8])")),
              HasSubstr("size of 18446744073709551615"));
  EXPECT_THAT(refusal_of(tensor(R"("dtype":"F32","shape":null,"data_offsets":[0,8])")),
              HasSubstr("shape is null"));
  EXPECT_THAT(refusal_of(tensor(R"("dtype":1,"shape":[2],"data_offsets":[0,8])")),
              HasSubstr("dtype is a number"));
  EXPECT_THAT(refusal_of(with_header(R"({"w":[1]})", kTwo)), HasSubstr("'w' is a list, not an object"));
  EXPECT_THAT(refusal_of(with_header(R"({"w":NaN})", kTwo)), HasSubstr("not JSON: byte"));
  EXPECT_THAT(refusal_of(with_header(std::string("{}\0{\"w\": 1}", 12), "")),
              HasSubstr("not JSON: byte 10 of the file is zero"));
  EXPECT_THAT(refusal_of(with_header(R"({"w":)", kTwo)), HasSubstr("not JSON"));
  EXPECT_THAT(refusal_of(with_header(R"({"__metadata__":{"n":1}})")), HasSubstr("metadata holds texts only"));
  EXPECT_THAT(refusal_of(with_header(R"({"__metadata__":{"a":"1","a":"2"}})")),
              HasSubstr("'a' of '__metadata__' occurs"));
  EXPECT_THAT(refusal_of(with_header("{\"\xff\":{}}")), HasSubstr("not JSON"));
  EXPECT_THAT(refusal_of(with_header(R"({} x)")), HasSubstr("not JSON"));
}

TEST(Safetensors, DeepNestingEndsAtOnce) {
  EXPECT_THAT(refusal_of(with_header("{\"w\":" + std::string(2'000'000, '['))), HasSubstr("'w' is a list"));
  std::string deep;
  for (int i = 0; i < 100'000; ++i) deep += "{\"a\":";
  EXPECT_THAT(refusal_of(with_header(deep)), HasSubstr("unknown field"));
}

TEST(Safetensors, BrokenLayouts) {
  const auto two = [](int a, int b, int c, int d) {
    return fmt::format(R"({{"a":{{"dtype":"F32","shape":[1],"data_offsets":[{},{}]}},)"
                       R"("b":{{"dtype":"F32","shape":[1],"data_offsets":[{},{}]}}}})",
                       a, b, c, d);
  };
  EXPECT_EQ(refusal_of(with_header(two(4, 8, 0, 4), kTwo)), "accepted");
  EXPECT_EQ(refusal_of(with_header(two(0, 4, 8, 12), kTwo + kTwo)),
            "f: bytes 4 to 8 of the data belong to no tensor");
  EXPECT_EQ(refusal_of(with_header(two(0, 4, 0, 4), kTwo)), "f: tensors 'a' and 'b' overlap");
  EXPECT_EQ(refusal_of(with_header(two(0, 4, 2, 6), kTwo)), "f: tensors 'a' and 'b' overlap");
  EXPECT_EQ(refusal_of(with_header(two(0, 4, 4, 8), kTwo + "x")),
            "f: bytes 8 to 9 of the data belong to no tensor");
  EXPECT_THAT(refusal_of(with_header(two(0, 4, 4, 8), kTwo.substr(1))),
              HasSubstr("which has 7 bytes (a cut download?)"));
  EXPECT_THAT(refusal_of(with_header(two(4, 0, 4, 8), kTwo)), HasSubstr("'a' lies at bytes 4 to 0"));
  EXPECT_THAT(refusal_of(with_header(two(0, 8, 4, 8), kTwo)),
              HasSubstr("takes 4 bytes, its data_offsets give 8"));
  EXPECT_THAT(
      refusal_of(with_header(R"({"w":{"dtype":"F32","shape":[4611686018427387904],"data_offsets":[0,0]}})")),
      HasSubstr("is larger than any file"));
  EXPECT_EQ(refusal_of(with_header(
                R"({"w":{"dtype":"F32","shape":[9223372036854775807,0,9],"data_offsets":[0,0]}})")),
            "accepted");  // no element, so nothing overflows
  EXPECT_THAT(refusal_of(with_header(
                  R"({"w":{"dtype":"F32","shape":[1,1,1,1,1,1,1,1,2],"data_offsets":[0,8]}})", kTwo)),
              HasSubstr("more than 8 dimensions"));
}

TEST(Safetensors, SameNameTwiceIsRefused) {
  EXPECT_EQ(refusal_of(with_header(R"({"w":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},)"
                                   R"("w":{"dtype":"F32","shape":[2],"data_offsets":[8,16]}})",
                                   kTwo + kTwo)),
            "f: name 'w' occurs twice in the header");
}

// Case 32: what the file seems to be, not "header too large".
TEST(Safetensors, OtherKindsOfFileAreRecognised) {
  EXPECT_THAT(refusal_of("version https://git-lfs.github.com/spec/v1\noid sha256:11\nsize 5\n"),
              HasSubstr("LFS"));
  EXPECT_THAT(refusal_of(std::string_view("PK\3\4\x14\0\0\0\0\0\0\0", 12)), HasSubstr("zip"));
  EXPECT_THAT(refusal_of(std::string_view("\x1f\x8b\x08\0\0\0\0\0\0\0\0\0", 12)), HasSubstr("gzip"));
  EXPECT_THAT(refusal_of("<!DOCTYPE html><html><body>Not found</body></html>"), HasSubstr("HTML"));
}

// Cut at every length, and with every byte changed: refused or read, never a crash or a read outside.
TEST(Safetensors, EveryCutAndEveryChangedByteIsSafe) {
  const std::string bytes = with_header(kOne, kTwo);
  for (size_t length = 0; length < bytes.size(); ++length) {
    const std::string cut(bytes.data(), length);  // its own memory, so that the sanitizer sees a read beyond
    EXPECT_NE(refusal_of(cut), "accepted") << length;
  }
  for (size_t at = 0; at < bytes.size(); ++at) {
    for (const char changed : {'\0', '9', '"', '\xff', '{'}) {
      std::string other = bytes;
      other[at] = changed;
      refusal_of(other);
    }
  }
}

std::string folder() {
  static const TestFolder folder("safetensors");
  return folder.path();
}

// By docs/formats/safetensors.md alone: every byte of a small file, written out.
TEST(Safetensors, WrittenBytesAreThoseOfThePage) {
  const std::string a = floats({1, -2}), b("\x80\x3f", 2);
  const StoredTensor tensors[] = {{"h", StoredType::kBF16, {1}, b}, {"w", StoredType::kF32, {2, 1}, a}};
  const std::string path = folder() + "/page";
  write_safetensors(path, tensors, {{"step", "3"}});
  const std::string header =
      R"({"__metadata__":{"format":"pt","step":"3"},"w":{"dtype":"F32","shape":[2,1],"data_offsets":[0,8]},)"
      R"("h":{"dtype":"BF16","shape":[1],"data_offsets":[8,10]}})";
  const std::string padded = header + std::string((8 - header.size() % 8) % 8, ' ');
  EXPECT_EQ(read_file(path), with_header(padded, a + b));
}

// Case 25.
TEST(Safetensors, SavedLoadedSavedAgainIsTheSameFile) {
  Metadata metadata;
  for (int i = 0; i < 16; ++i)
    metadata[fmt::format("key {} \"\\\n é", (i * 7) % 16)] = fmt::format("value {}", i);
  const std::string data = floats({1, -2, 3, 4, 5, 6});
  std::vector<StoredTensor> tensors = {{"z", StoredType::kF32, {2}, std::string_view(data).substr(0, 8)},
                                       {"a", StoredType::kF32, {}, std::string_view(data).substr(8, 4)},
                                       {"none", StoredType::kF16, {0, 3}, ""},
                                       {"u", StoredType::kU8, {3}, std::string_view(data).substr(12, 3)}};
  const std::string one = folder() + "/one", two = folder() + "/two";
  write_safetensors(one, tensors, metadata);
  const SafetensorsFile loaded(one);
  std::vector<StoredTensor> reversed(loaded.tensors().rbegin(), loaded.tensors().rend());
  write_safetensors(two, reversed, loaded.metadata());
  EXPECT_EQ(read_file(one), read_file(two));
  EXPECT_EQ(loaded.metadata().at("format"), "pt");
  EXPECT_EQ(loaded.metadata().size(), 17u);
  EXPECT_EQ(loaded.find("a")->bytes, tensors[1].bytes);
  EXPECT_EQ(loaded.find("b"), nullptr);
}

TEST(Safetensors, NamesThatCannotBeStoredAreRefused) {
  const StoredTensor twice[] = {{"w", StoredType::kU8, {0}, ""}, {"w", StoredType::kU8, {0}, ""}};
  EXPECT_THROW(write_safetensors(folder() + "/no", twice, {}), Refusal);
  const StoredTensor reserved[] = {{"__metadata__", StoredType::kU8, {0}, ""}};
  EXPECT_THROW(write_safetensors(folder() + "/no", reserved, {}), Refusal);
  const StoredTensor bad[] = {{"\xff", StoredType::kU8, {0}, ""}};
  EXPECT_THROW(write_safetensors(folder() + "/no", bad, {}), Refusal);
  EXPECT_FALSE(file_exists(folder() + "/no"));
}

struct Fixture {
  const char* file;
  const char* says;  // nullptr: is read
};

class SafetensorsFixture : public testing::TestWithParam<Fixture> {};

TEST_P(SafetensorsFixture, GetsWhatTheManifestSays) {
  const char* given = std::getenv("TRIL_SHARED");
  const std::string shared = given != nullptr ? given : TRIL_SOURCE_DIR "/../shared";
  if (!folder_exists(shared)) GTEST_SKIP() << "no shared data";
  const std::string path = fmt::format("{}/fixtures/st/{}.safetensors", shared, GetParam().file);
  std::string said;
  try {
    const SafetensorsFile file(path);
  } catch (const Refusal& refusal) {
    said = refusal.what();
  }
  if (GetParam().says == nullptr) {
    EXPECT_EQ(said, "");
  } else {
    EXPECT_THAT(said, AllOf(HasSubstr(path), HasSubstr(GetParam().says)));
  }
}

INSTANTIATE_TEST_SUITE_P(
    All, SafetensorsFixture,
    testing::Values(Fixture{"ok_min", nullptr}, Fixture{"ok_empty_tensor", nullptr},
                    Fixture{"ok_bf16_f16", nullptr}, Fixture{"tied_both_names", nullptr},
                    Fixture{"len_truncated", "3 bytes"}, Fixture{"hlen_huge", "9223372036854775808"},
                    Fixture{"hlen_beyond_file", "only 61 follow"}, Fixture{"json_array", "{"},
                    Fixture{"dup_names", "'w' occurs twice"}, Fixture{"hole", "bytes 8 to 12"},
                    Fixture{"offset_beyond", "4096"}, Fixture{"offset_float", "8.0"},
                    Fixture{"shape_overflow_bytes", "larger than any file"},
                    Fixture{"shape_many_dims", "more than 8 dimensions"}, Fixture{"dtype_lowercase", "'f32'"},
                    Fixture{"extra_field", "'extra'"}, Fixture{"meta_nan", "not JSON"},
                    Fixture{"lfs_pointer", "Git LFS"}, Fixture{"torch_zip_renamed", "PyTorch"}),
    [](const testing::TestParamInfo<Fixture>& info) { return std::string(info.param.file); });

}  // namespace
}  // namespace tril
