#include "tril/base/error_testing.h"
#include "tril/base/file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "tril/base/error.h"
#include "tril/base/fault.h"
#include "tril/base/folder_testing.h"

namespace tril {
namespace {
namespace fs = std::filesystem;

class FileTest : public testing::Test {
 protected:
  void TearDown() override { fault::plan(""); }
  std::string at(const std::string& name) const { return files_.at(name); }
  void put(const std::string& name, std::string_view bytes) const {
    std::ofstream(at(name), std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  }
  const TestFolder files_{testing::UnitTest::GetInstance()->current_test_info()->name()};
  const std::string& folder_ = files_.path();
};

/// Runs body in a child process that ends without cleaning up; returns its exit status.
int in_child(const std::function<void()>& body) {
  const pid_t child = ::fork();
  if (child == 0) {
    try {
      body();
    } catch (const Error&) {
      ::_exit(2);
    }
    ::_exit(0);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return WEXITSTATUS(status);
}

using FaultyFile = FileTest;

TEST_F(FaultyFile, ReadsWholeFilesAndSaysWhyItCannot) {
  const std::string bytes = std::string("a\0b\n", 4) + std::string(200000, 'x');
  put("f", bytes);
  EXPECT_EQ(read_file(at("f")), bytes);
  EXPECT_EQ(MappedFile(at("f")).bytes(), bytes);
  put("empty", "");
  EXPECT_EQ(read_file(at("empty")), "");
  EXPECT_EQ(MappedFile(at("empty")).bytes(), "");
  EXPECT_EQ(refusal_of([&] { read_file(at("none")); }),
            at("none") + ": can't be read: No such file or directory");
  EXPECT_EQ(refusal_of([&] { MappedFile{folder_}; }), folder_ + ": is a folder, a file is needed");
}

TEST_F(FaultyFile, AtomicWriteReplacesAndLeavesNothingElse) {
  write_file_atomically(at("f"), "one");
  write_file_atomically(at("f"), "two");
  EXPECT_EQ(read_file(at("f")), "two");
  EXPECT_EQ(list_folder(folder_), std::vector<std::string>{"f"});
}

TEST_F(FaultyFile, AtomicWriteFollowsLinksAndWritesToDevices) {
  put("target", "old");
  fs::create_symlink("target", at("link"));
  write_file_atomically(at("link"), "new");
  EXPECT_TRUE(fs::is_symlink(at("link")));
  EXPECT_EQ(read_file(at("target")), "new");
  write_file_atomically("/dev/null", "gone");
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
}

// For each operation n that a write does: after a failure there the old content stands alone; where nothing
// failed, the new one. Operations are create, write, flush, rename, flush of the folder.
TEST_F(FaultyFile, AtomicWriteFailsCleanlyAtEveryOperation) {
  for (const char* effect : {"error", "full", "short", "kill"}) {
    for (int n = 1; n <= 6; ++n) {
      put("f", "the old content");
      const std::string plan = fmt::format("any:{}:{}", n, effect);
      const int status = in_child([&] {
        fault::plan(plan);
        write_file_atomically(at("f"), "the new content");
      });
      const std::string now = read_file(at("f"));
      EXPECT_TRUE(now == "the old content" || now == "the new content") << plan << ": " << now;
      if (status == 0) {
        EXPECT_EQ(now, "the new content") << plan;
      }
      if (status == 2) {
        EXPECT_EQ(list_folder(folder_), std::vector<std::string>{"f"}) << plan;
      }
      EXPECT_EQ(status == fault::kKilled, std::string_view(effect) == "kill" && n <= 5) << plan;
      remove_temporaries(folder_);
      EXPECT_EQ(list_folder(folder_), std::vector<std::string>{"f"}) << plan;
    }
  }
}

TEST_F(FaultyFile, FullDiskIsToldByTheNameTheUserGave) {
  fault::plan("write:1:full");
  EXPECT_EQ(refusal_of([&] { write_file_atomically(at("f"), "bytes"); }),
            at("f") + ": can't be written: No space left on device");
  EXPECT_TRUE(list_folder(folder_).empty());
}

TEST_F(FaultyFile, LinesAreWholeAfterEveryFault) {
  for (const char* effect : {"error", "full", "kill"}) {
    for (int n = 1; n <= 6; ++n) {
      fs::remove(at("lines"));
      in_child([&] {
        fault::plan(fmt::format("any:{}:{}", n, effect));
        LineFile lines(at("lines"));
        lines.append("first line");
        lines.append("second line");
        lines.flush();
      });
      if (!fs::exists(at("lines"))) continue;  // the fault came before the file was made
      const uint64_t size = LineFile(at("lines")).size();
      EXPECT_TRUE(size == 0 || size == 11 || size == 23) << effect << n << ": " << size;
      EXPECT_EQ(read_file(at("lines")), std::string("first line\nsecond line\n").substr(0, size));
    }
  }
}

TEST_F(FaultyFile, LinesAreAppendedAndCutBack) {
  {
    LineFile lines(at("lines"));
    lines.append("a");
    lines.append("bc");
    EXPECT_EQ(lines.size(), 5u);
  }
  LineFile lines(at("lines"));
  lines.cut(2);
  lines.append("d");
  EXPECT_EQ(read_file(at("lines")), "a\nd\n");
}

TEST_F(FaultyFile, FolderAppearsWholeOrNotAtAll) {
  for (const char* effect : {"error", "full", "kill"}) {
    for (int n = 1; n <= 12; ++n) {
      fs::remove_all(at("made"));
      const int status = in_child([&] {
        fault::plan(fmt::format("any:{}:{}", n, effect));
        FolderWriter writer(at("made"));
        for (const char* name : {"a", "b"}) {
          FileWriter file(writer.folder() + "/" + name);
          file.write("content");
          file.finish();
        }
        writer.commit();
      });
      if (fs::exists(at("made"))) {
        EXPECT_EQ(read_file(at("made/a")) + read_file(at("made/b")), "contentcontent");
      } else {
        EXPECT_NE(status, 0) << effect << n;
      }
      if (status == 2) {
        EXPECT_LE(list_folder(folder_).size(), 1u) << effect << n;
      }
      remove_temporaries(folder_);
    }
  }
}

TEST_F(FaultyFile, RemovedFolderVanishesAtOnce) {
  for (int n = 1; n <= 5; ++n) {
    fs::create_directories(at("old"));
    put("old/a", "a");
    put("old/b", "b");
    in_child([&] {
      fault::plan(fmt::format("any:{}:kill", n));
      remove_path(at("old"));
    });
    if (fs::exists(at("old"))) {
      EXPECT_EQ(list_folder(at("old")).size(), 2u) << n;
    }
    remove_temporaries(folder_);
  }
  EXPECT_FALSE(fs::exists(at("old")));
  remove_path(at("old"));  // nothing there is no error
}

TEST_F(FaultyFile, FoldersAreMadeWithTheirParents) {
  EXPECT_EQ(make_folders(at("x/y")), (std::vector<std::string>{at("x"), at("x/y")}));
  EXPECT_TRUE(make_folders(at("x/y")).empty());
  put("plain", "");
  EXPECT_EQ(refusal_of([&] { make_folders(at("plain/z")); }),
            at("plain/z") + ": can't be made: " + at("plain") + " is no folder");
  probe_folder(at("x"));
  EXPECT_EQ(list_folder(at("x")), std::vector<std::string>{"y"});
  fault::plan("create:1:error");
  EXPECT_EQ(refusal_of([&] { probe_folder(at("x")); }), at("x") + ": can't be written: Input/output error");
  for (int n = 1; n <= 6; ++n) {  // whatever fails, the removal too
    fault::plan(fmt::format("any:{}:error", n));
    refusal_of([&] { probe_folder(at("x")); });
    fault::plan("");
    EXPECT_EQ(list_folder(at("x")), std::vector<std::string>{"y"}) << n;
  }
}

TEST_F(FaultyFile, DigestIsOfTheBytesWritten) {
  FileWriter file(at("f"));
  file.start_digest();
  file.write("a");
  file.write("bc");
  file.finish();
  EXPECT_EQ(to_hex(file.digest()), sha256_hex("abc"));
}

TEST(Fault, PlansAreRead) {
  for (const char* bad :
       {"write", "write:1", "write:0:error", "write:x:error", "burn:1:error", "write:1:none"}) {
    EXPECT_NE(refusal_of([&] { fault::plan(bad); }), "") << bad;
  }
  fault::plan("flush:2:error");
  EXPECT_EQ(fault::next(fault::Operation::kFlush), fault::Effect::kNone);
  EXPECT_EQ(fault::next(fault::Operation::kWrite), fault::Effect::kNone);
  EXPECT_EQ(fault::next(fault::Operation::kFlush), fault::Effect::kError);
  EXPECT_EQ(fault::next(fault::Operation::kFlush), fault::Effect::kNone);
  EXPECT_EQ(fault::count(), 4);
  EXPECT_EQ(fault::count(fault::Operation::kFlush), 3);
  fault::plan("");
}

}  // namespace
}  // namespace tril
