#include "tril/formats/npz.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <functional>

#include "tril/base/error.h"
#include "tril/base/error_testing.h"
#include "tril/base/folder_testing.h"
#include "tril/formats/zip.h"

namespace tril {
namespace {
using testing::AllOf;
using testing::HasSubstr;

std::string temporary(const std::string& name) {
  static const TestFolder folder("npz");
  return folder.at(name);
}

std::string npy(std::string_view header, std::string_view data, int version = 1) {
  std::string bytes = "\x93NUMPY";
  bytes.push_back(static_cast<char>(version));
  bytes.push_back('\0');
  const auto length = static_cast<uint32_t>(header.size());
  bytes.append(reinterpret_cast<const char*>(&length), version == 1 ? 2 : 4);
  return bytes.append(header).append(data);
}

std::string refusal_of_npy(std::string_view header, std::string_view data = "", int version = 1) {
  const std::string path = temporary("npy");
  write_file_atomically(path, npy(header, data, version));
  return refusal_of([&] { NpzFile{path}; });
}

std::string refusal_of_bytes(std::string_view bytes) {
  const std::string path = temporary("bytes");
  write_file_atomically(path, bytes);
  return refusal_of([&] { NpzFile{path}; });
}

std::string small_archive() {
  float values[6] = {0, 1, 2, 3, 4, 5};
  uint8_t flags[2] = {7, 8};
  const StoredTensor tensors[] = {stored("w", Tensor{{2, 3}, DType::f32, values}),
                                  {"one", StoredType::kU8, {}, {reinterpret_cast<const char*>(flags), 1}},
                                  {"row", StoredType::kU8, {2}, {reinterpret_cast<const char*>(flags), 2}},
                                  {"none", StoredType::kF64, {0, 4}, ""}};
  write_npz(temporary("small"), tensors);
  return read_file(temporary("small"));
}

TEST(Npz, WrittenFilesAreReadAgainAndAreTheSameEachTime) {
  const std::string bytes = small_archive();
  EXPECT_EQ(small_archive(), bytes);
  const NpzFile file(temporary("small"));
  ASSERT_EQ(file.tensors().size(), 4u);
  EXPECT_EQ(file.tensors()[0].name, "w");
  EXPECT_EQ(file.tensors()[0].shape, (std::vector<int64_t>{2, 3}));
  EXPECT_EQ(element(file.tensors()[0], 5), 5);
  EXPECT_EQ(file.tensors()[1].shape, std::vector<int64_t>{});
  EXPECT_EQ(file.tensors()[2].shape, std::vector<int64_t>{2});
  EXPECT_EQ(element(file.tensors()[2], 1), 8);
  EXPECT_EQ(file.tensors()[3].shape, (std::vector<int64_t>{0, 4}));
  const size_t header = bytes.find("\x93NUMPY"), data = bytes.find('\n', header) + 1;
  EXPECT_EQ((data - header) % 64, 0u);
  EXPECT_EQ(bytes.substr(header + 10, 55), "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3");
}

TEST(Npz, WhatCannotBeWrittenIsRefused) {
  const StoredTensor brain[] = {{"w", StoredType::kBF16, {0}, ""}};
  EXPECT_THAT(refusal_of([&] { write_npz(temporary("no"), brain); }),
              HasSubstr("'w' is BF16, which NumPy has not"));
  const StoredTensor twice[] = {{"w", StoredType::kU8, {0}, ""}, {"w", StoredType::kU8, {0}, ""}};
  EXPECT_THAT(refusal_of([&] { write_npz(temporary("no"), twice); }),
              HasSubstr("two tensors are called 'w'"));
  EXPECT_FALSE(file_exists(temporary("no")));
}

TEST(Npz, BrokenHeaders) {
  const std::string eight(8, '\0');
  EXPECT_EQ(refusal_of_npy("{'descr': '<f4', 'fortran_order': False, 'shape': (2,)}", eight), "");
  EXPECT_EQ(
      refusal_of_npy("{\"shape\": (1, 2), \"fortran_order\": True, \"descr\": \"=f4\", }  \n", eight, 2), "");
  const auto says = [&](std::string_view header, std::string_view what, int version = 1) {
    EXPECT_THAT(refusal_of_npy(header, eight, version), HasSubstr(std::string(what))) << header;
  };
  says("{'descr': '>f4', 'fortran_order': False, 'shape': (2,)}", "big-endian");
  says("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (2,)}", "structured type");
  says("{'descr': '|O', 'fortran_order': False, 'shape': (2,)}", "never unpickles");
  says("{'descr': '<U4', 'fortran_order': False, 'shape': (2,)}", "doesn't read");
  says("{'descr': '<f4', 'fortran_order': False, 'shape': (3,)}", "F32 [3] needs 12 bytes, has 8");
  says("{'descr': '<f4', 'fortran_order': False, 'shape': (1,)}", "needs 4 bytes, has 8");
  says("{'descr': '<f4', 'fortran_order': False, 'shape': (4611686018427387904, 4)}", "larger than any file");
  says("{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999,)}", "can't be read at '999");
  says("{'descr': '<f4', 'fortran_order': False, 'shape': (-2,)}", "can't be read at '-2");
  says("{'descr': '<f4', 'fortran_order': False, 'shape': (2.0,)}", "can't be read at '.0");
  says("{'descr': '<f4', 'fortran_order': False, 'shape': (1,1,1,1,1,1,1,1,2)}", "more than 8 dimensions");
  says("{'descr': '<f4', 'fortran_order': False}", "lacks");
  says("{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (2,)}", "'descr' comes twice");
  says("{'descr': '<f4', 'order': False, 'shape': (2,)}", "unknown key 'order'");
  says("{'descr': '<f4', 'fortran_order': 0, 'shape': (2,)}", "can't be read");
  says("{'descr': '<f4', 'fortran_order': False, 'shape': (2,)} x", "can't be read at 'x");
  says("", "can't be read");
  says("{'descr': '<f4', 'fortran_order': False, 'shape': (2,)}", "version 4", 4);
}

TEST(Npz, OtherFilesAreNamed) {
  EXPECT_THAT(refusal_of_bytes(""), HasSubstr("is empty"));
  EXPECT_THAT(refusal_of_bytes("\x1f\x8b\x08 gzip"), HasSubstr("gzip"));
  EXPECT_THAT(refusal_of_bytes("PK\3\4 and no more of it than this"), HasSubstr("it is cut"));
  const std::string path = temporary("pickle");
  write_file_atomically(path, [](FileWriter& file) {
    ZipWriter zip(file);
    zip.add("data.pkl", {"x"});
    zip.finish();
  });
  EXPECT_THAT(refusal_of([&] { NpzFile{path}; }), HasSubstr("never runs a pickle"));
}

TEST(Npz, SameMemberTwiceIsRefused) {
  const std::string path = temporary("twice"),
                    one = npy("{'descr': '|u1', 'fortran_order': False, 'shape': ()}", "x");
  write_file_atomically(path, [&](FileWriter& file) {
    ZipWriter zip(file);
    zip.add("w.npy", {one});
    zip.add("w.npy", {one});
    zip.finish();
  });
  EXPECT_THAT(refusal_of([&] { NpzFile{path}; }), HasSubstr("member 'w.npy': comes twice"));
}

// Cut at every length: refused. Every byte changed: refused or read, never a crash or a read outside.
TEST(Npz, EveryCutAndEveryChangedByteIsSafe) {
  const std::string bytes = small_archive();
  for (size_t length = 0; length < bytes.size(); length += 3) {
    EXPECT_NE(refusal_of_bytes(bytes.substr(0, length)), "") << length;
  }
  const size_t data = bytes.find('\n') + 1;
  std::string damaged = bytes;
  damaged[data] = static_cast<char>(damaged[data] ^ 1);
  EXPECT_THAT(refusal_of_bytes(damaged), HasSubstr("member 'w.npy': its CRC-32 does not match"));
  for (size_t at = 0; at < bytes.size(); ++at) {
    std::string other = bytes;
    other[at] = static_cast<char>(other[at] ^ 0xff);
    refusal_of_bytes(other);
  }
}

struct Fixture {
  const char* file;
  const char* says;
};
class NpzFixture : public testing::TestWithParam<Fixture> {};

TEST_P(NpzFixture, GetsWhatTheManifestSays) {
  const char* given = std::getenv("TRIL_SHARED");
  const std::string shared = given != nullptr ? given : TRIL_SOURCE_DIR "/../shared";
  if (!folder_exists(shared)) GTEST_SKIP() << "no shared data";
  const std::string path = fmt::format("{}/fixtures/npz/{}.npz", shared, GetParam().file);
  const std::string said = refusal_of([&] {
    const NpzFile file(path);
    EXPECT_EQ(file.tensors().at(0).name, "w");
    EXPECT_EQ(element(file.tensors().at(0), 5), 5);
  });
  if (GetParam().says == nullptr) {
    EXPECT_EQ(said, "");
  } else {
    EXPECT_THAT(said, AllOf(HasSubstr(path), HasSubstr(GetParam().says)));
  }
}

INSTANTIATE_TEST_SUITE_P(All, NpzFixture,
                         testing::Values(Fixture{"ok", nullptr}, Fixture{"ok_v2", nullptr},
                                         Fixture{"big_endian", "big-endian"},
                                         Fixture{"struct_dtype", "structured"},
                                         Fixture{"shape_short_data", "needs 240000 bytes, has 24"},
                                         Fixture{"header_len_beyond", "claims a header"},
                                         Fixture{"dup_member", "comes twice"}, Fixture{"bad_crc", "CRC-32"}),
                         [](const testing::TestParamInfo<Fixture>& info) {
                           return std::string(info.param.file);
                         });

}  // namespace
}  // namespace tril
