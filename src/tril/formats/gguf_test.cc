#include "tril/formats/gguf.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <functional>

#include "tril/base/error.h"
#include "tril/base/folder_testing.h"

namespace tril {
namespace {
using testing::AllOf;
using testing::HasSubstr;

template <class T>
std::string raw(T value) {
  return {reinterpret_cast<const char*>(&value), sizeof value};
}
std::string text(std::string_view value) {
  return raw<uint64_t>(value.size()).append(value);
}
std::string key(std::string_view name, uint32_t type, std::string_view value) {
  return text(name).append(raw(type)).append(value);
}
std::string entry(std::string_view name, std::vector<uint64_t> sizes, uint32_t type, uint64_t offset) {
  std::string bytes = text(name).append(raw(static_cast<uint32_t>(sizes.size())));
  for (const uint64_t size : sizes) bytes += raw(size);
  return bytes.append(raw(type)).append(raw(offset));
}

struct Parts {
  uint32_t version = 3;
  std::vector<std::string> keys, entries;
  std::string data;
  uint64_t extra_keys = 0, extra_tensors = 0, alignment = 32;

  std::string bytes() const {
    std::string all = "GGUF" + raw(version) + raw<uint64_t>(entries.size() + extra_tensors) +
                      raw<uint64_t>(keys.size() + extra_keys);
    for (const std::string& part : keys) all += part;
    for (const std::string& part : entries) all += part;
    all.resize((all.size() + alignment - 1) / alignment * alignment);
    return all + data;
  }
};

Parts small() {
  Parts parts;
  parts.keys = {key("general.architecture", 8, text("gpt2")), key("n", 4, raw<uint32_t>(7)),
                key("names", 9, raw<uint32_t>(8) + raw<uint64_t>(2) + text("a") + text("")),
                key("scores", 9, raw<uint32_t>(6) + raw<uint64_t>(2) + raw(0.5f) + raw(-1.f))};
  parts.entries = {entry("w", {3, 2}, 0, 0), entry("h", {2}, 1, 32)};
  for (const float value : {1.f, 2.f, 3.f, 4.f, 5.f, 6.f}) parts.data += raw(value);
  parts.data.resize(32);
  parts.data += raw<uint16_t>(0x3c00) + raw<uint16_t>(0xc000);
  return parts;
}

std::string refusal_of(std::string_view bytes) {
  try {
    parse_gguf(bytes, "f");
  } catch (const Refusal& refusal) {
    return refusal.what();
  }
  return "accepted";
}

TEST(Gguf, ReadsKeysAndTensors) {
  const TestFolder folder("gguf");
  write_file_atomically(folder.at("f"), small().bytes());
  const GgufFile file(folder.at("f"));
  EXPECT_EQ(file.view().version, 3u);
  EXPECT_EQ(std::get<std::string_view>(*file.find("general.architecture")), "gpt2");
  EXPECT_EQ(std::get<uint64_t>(*file.find("n")), 7u);
  EXPECT_EQ(file.strings("names"), (std::vector<std::string_view>{"a", ""}));
  EXPECT_EQ(file.floats("scores"), (std::vector<float>{0.5f, -1.f}));
  EXPECT_EQ(file.find("none"), nullptr);
  EXPECT_THROW(file.strings("none"), Refusal);
  EXPECT_THROW(file.strings("n"), Refusal);
  EXPECT_THROW(file.floats("names"), Refusal);
  const GgufTensor& w = *file.find_tensor("w");
  EXPECT_EQ(w.shape, (std::vector<int64_t>{2, 3}));  // the file says 3, 2: innermost first
  std::vector<float> values(6), halves(2);
  file.to_float(w, values);
  EXPECT_EQ(values, (std::vector<float>{1, 2, 3, 4, 5, 6}));
  file.to_float(*file.find_tensor("h"), halves);
  EXPECT_EQ(halves, (std::vector<float>{1, -2}));
  EXPECT_EQ(file.view().unused, 0u);
}

TEST(Gguf, BrokenStarts) {
  EXPECT_THAT(refusal_of(""), HasSubstr("is empty"));
  EXPECT_THAT(refusal_of("<!DOCTYPE html><html>"), HasSubstr("HTML"));
  EXPECT_THAT(refusal_of("GGUX...."), HasSubstr("is no GGUF file"));
  Parts parts = small();
  for (const uint32_t version : {0u, 1u, 4u}) {
    parts.version = version;
    EXPECT_THAT(refusal_of(parts.bytes()), HasSubstr(fmt::format("version {}", version)));
  }
  parts.version = 0x03000000;
  EXPECT_THAT(refusal_of(parts.bytes()), HasSubstr("big-endian"));
  parts.version = 2;
  EXPECT_EQ(refusal_of(parts.bytes()), "accepted");
  parts.extra_tensors = uint64_t{1} << 63;
  EXPECT_THAT(refusal_of(parts.bytes()), HasSubstr("claims 9223372036854775810 tensors"));
  parts.extra_tensors = 0;
  parts.extra_keys = uint64_t{1} << 60;
  EXPECT_THAT(refusal_of(parts.bytes()), HasSubstr("keys"));
}

TEST(Gguf, BrokenKeys) {
  const auto says = [](std::string_view one_key, const char* what) {
    Parts parts = small();
    parts.keys = {std::string(one_key)};
    EXPECT_THAT(refusal_of(parts.bytes()), HasSubstr(what));
  };
  says(key("", 4, raw<uint32_t>(1)), "empty key");
  says(key("k", 99, raw<uint32_t>(1)), "key 'k': value type 99 is not known");
  says(key("k", 7, raw<uint8_t>(2)), "truth value is 2");
  says(key("k", 9, raw<uint32_t>(4) + raw<uint64_t>(uint64_t{1} << 62)),
       "claims 4611686018427387904 elements");
  says(key("k", 9, raw<uint32_t>(9) + raw<uint64_t>(0)), "arrays of arrays");
  says(key("k", 8, raw<uint64_t>(uint64_t{1} << 63)), "ends within key 'k'");
  says(key("general.alignment", 4, raw<uint32_t>(0)), "general.alignment is 0");
  says(key("general.alignment", 4, raw<uint32_t>(24)), "general.alignment is 24; a power of two");
  says(key("general.alignment", 8, text("32")), "no unsigned number");
  Parts twice = small();
  twice.keys.push_back(twice.keys[1]);
  EXPECT_THAT(refusal_of(twice.bytes()), HasSubstr("key 'n' comes twice"));
}

TEST(Gguf, BrokenTensors) {
  const auto says = [](std::vector<std::string> entries, const char* what) {
    Parts parts = small();
    parts.entries = std::move(entries);
    EXPECT_THAT(refusal_of(parts.bytes()), HasSubstr(what));
  };
  says({entry("w", {3, 2}, 250, 0)}, "tensor 'w' is of type 250");
  says({entry("w", {1, 1, 1, 1, 1}, 0, 0)}, "5 dimensions");
  says({entry("w", {uint64_t{1} << 32, uint64_t{1} << 32}, 0, 0)}, "larger than any file");
  says({entry("w", {uint64_t{1} << 63}, 0, 0)}, "has a size of 9223372036854775808");
  says({entry("w", {16777216}, 0, 0)}, "needs 67108864 bytes at 0 of the data, which has 36");
  says({entry("w", {1}, 0, 7)}, "no multiple of 32");
  says({entry("w", {1}, 0, uint64_t{1} << 63)}, "'w' needs 4 bytes at 9223372036854775808");
  says({entry("w", {3, 2}, 8, 0)}, "no whole blocks of Q8_0");
  says({entry("a", {9}, 0, 0), entry("b", {1}, 0, 32)}, "tensors 'a' and 'b' overlap");
  says({entry("w", {1}, 0, 0), entry("w", {1}, 0, 32)}, "tensor 'w' comes twice");
}

TEST(Gguf, UnusedBytesAreCounted) {
  Parts parts = small();
  parts.data += std::string(64, 'x');
  EXPECT_EQ(parse_gguf(parts.bytes(), "f").unused, 64u);
}

TEST(Gguf, EveryCutAndEveryChangedByteIsSafe) {
  const std::string bytes = small().bytes();
  for (size_t length = 0; length < bytes.size(); ++length) {
    EXPECT_NE(refusal_of(std::string(bytes, 0, length)), "accepted") << length;
  }
  for (size_t at = 0; at < bytes.size(); ++at) {
    for (const int change : {0xff, 0x01, 0x80}) {
      std::string other = bytes;
      other[at] = static_cast<char>(other[at] ^ change);
      refusal_of(other);
    }
  }
}

struct Fixture {
  const char* file;
  const char* says;
};
class GgufFixture : public testing::TestWithParam<Fixture> {};

TEST_P(GgufFixture, GetsWhatTheManifestSays) {
  const char* given = std::getenv("TRIL_SHARED");
  const std::string shared = given != nullptr ? given : TRIL_SOURCE_DIR "/../shared";
  if (!folder_exists(shared)) GTEST_SKIP() << "no shared data";
  const std::string path = fmt::format("{}/fixtures/gguf/{}.gguf", shared, GetParam().file);
  std::string said;
  try {
    const GgufFile file(path);
    if (file.find("tokenizer.ggml.scores") != nullptr) file.floats("tokenizer.ggml.scores");
    for (const GgufTensor& tensor : file.tensors()) {
      std::vector<float> values(static_cast<size_t>(tensor.elements()));
      file.to_float(tensor, values);
    }
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
    All, GgufFixture,
    testing::Values(Fixture{"ok_min", nullptr}, Fixture{"empty", "is empty"}, Fixture{"html", "HTML"},
                    Fixture{"version0", "version 0"}, Fixture{"count_tensors_2p63", "tensors"},
                    Fixture{"count_kv_one_more", ""}, Fixture{"arr_len_huge", "elements"},
                    Fixture{"kv_type_unknown", "99"}, Fixture{"arr_elem_narrow", "an array of u8"},
                    Fixture{"key_empty", "empty key"}, Fixture{"tensor_type_unknown", "250"},
                    Fixture{"tensor_type_q4k", "Q4_K"}, Fixture{"tensor_beyond", "which has 64"},
                    Fixture{"tensor_dims_overflow", "larger than any file"},
                    Fixture{"tensor_overlap", "overlap"}, Fixture{"align_zero", "alignment is 0"},
                    Fixture{"truncated_last_byte", "which has 31"}),
    [](const testing::TestParamInfo<Fixture>& info) { return std::string(info.param.file); });

}  // namespace
}  // namespace tril
