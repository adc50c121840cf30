#include "tril/base/file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <string>
#include <thread>

#include "tril/base/error.h"

namespace tril {
namespace {

using testing::HasSubstr;

namespace fs = std::filesystem;

class File : public testing::Test {
 protected:
  File() {
    std::string name = (fs::temp_directory_path() / "tril-file-XXXXXX").string();
    folder_ = ::mkdtemp(name.data());
  }
  ~File() override { fs::remove_all(folder_); }
  std::string at(const std::string& name) const { return (folder_ / name).string(); }
  size_t count() const {
    return static_cast<size_t>(std::distance(fs::directory_iterator(folder_), fs::directory_iterator()));
  }

  fs::path folder_;
};

template <class Call>
std::string refusal(const Call& call) {
  try {
    call();
  } catch (const Refusal& error) {
    return error.what();
  }
  return "";
}

TEST_F(File, ReadsBackEveryByteThatWasWritten) {
  std::string bytes(200000, '\0');
  for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<char>(i * 31 % 256);
  for (const std::string& text : {bytes, std::string("a\0b", 3), std::string()}) {
    write_file_atomically(at("x"), text);
    EXPECT_EQ(read_file(at("x")), text);
    EXPECT_EQ(MappedFile(at("x")).bytes(), text);
  }
  EXPECT_EQ(count(), 1u);
}

TEST_F(File, RefusalsNameTheFileAndTheReason) {
  EXPECT_EQ(refusal([&] { read_file(at("none")); }),
            at("none") + ": can't be read: No such file or directory");
  EXPECT_EQ(refusal([&] { MappedFile{at("none")}; }),
            at("none") + ": can't be read: No such file or directory");
  EXPECT_EQ(refusal([&] { read_file(folder_.string()); }),
            folder_.string() + ": is a folder, a file is needed");
  EXPECT_EQ(refusal([&] { write_file_atomically(at("no/x"), "1"); }),
            at("no/x") + ": can't be written: No such file or directory");
}

TEST_F(File, ReadsAPipeToItsEnd) {
  ASSERT_EQ(::mkfifo(at("pipe").c_str(), 0600), 0);
  const std::string text(100000, 'p');  // more than a pipe holds at once
  std::thread writer([&] {
    FILE* pipe = std::fopen(at("pipe").c_str(), "w");
    std::fwrite(text.data(), 1, text.size(), pipe);
    std::fclose(pipe);
  });
  EXPECT_EQ(read_file(at("pipe")), text);
  writer.join();
}

TEST_F(File, WhatNeedNotEndIsRefusedAndNotRead) {
  for (const char* device : {"/dev/zero", "/dev/urandom", "/dev/full"}) {
    try {
      read_file(device);
      FAIL() << device;
    } catch (const Refusal& refusal) {
      EXPECT_THAT(refusal.what(), HasSubstr(std::string(device) + ": is a device, which need not end"));
    }
    EXPECT_THROW(MappedFile map(device), Refusal);
  }
  EXPECT_EQ(read_file("/dev/null"), "");
}

TEST_F(File, AFailedWriteLeavesTheOldFileAndNothingBeside) {
  write_file_atomically(at("x"), "old");
  fs::create_directory(at("taken"));
  // A folder is no place for a file.
  EXPECT_NE(refusal([&] { write_file_atomically(at("taken"), "new"); }).find("is a folder, a file is needed"),
            std::string::npos);
  // A file-size limit fails the write itself, as a full disk does.
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  const rlimit small{10, before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
  const std::string said = refusal([&] { write_file_atomically(at("x"), std::string(1000, 'n')); });
  ::setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, handler);
  EXPECT_EQ(said, at("x") + ": can't be written: File too large");
  EXPECT_EQ(read_file(at("x")), "old");
  EXPECT_EQ(count(), 2u);
}

TEST_F(File, AMapMovesAndOutlivesTheName) {
  write_file_atomically(at("x"), "kept");
  MappedFile first(at("x"));
  MappedFile second(std::move(first));
  fs::remove(at("x"));
  EXPECT_EQ(second.bytes(), "kept");
  EXPECT_EQ(first.bytes(), "");
}

}  // namespace
}  // namespace tril
