// data fetch against a server in this process on 127.0.0.1, which also stalls, breaks off, redirects and
// lies.
#include "tril/data/fetch.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <thread>

#include "tests/http_server.h"
#include "tril/base/error.h"
#include "tril/base/fault.h"
#include "tril/base/file.h"
#include "tril/base/hash.h"
#include "tril/base/log.h"

namespace tril {
namespace {
namespace fs = std::filesystem;
using testing::HasSubstr;

/// A server's file of some 200 kB that no one could mistake for another.
const std::string& body() {
  static const std::string text = [] {
    std::string lines;
    for (int i = 0; i < 20000; ++i) lines += fmt::format("line {:05}\n", i);
    return lines;
  }();
  return text;
}

int64_t wanted_from(const std::string& head) {
  const size_t at = head.find("Range: bytes=");
  return at == std::string::npos ? 0 : std::strtoll(head.c_str() + at + 13, nullptr, 10);
}

/// A server that does what is right.
void serve_well(HttpServer&, int socket, const std::string& head) {
  const auto from = static_cast<size_t>(wanted_from(head));
  const auto size = body().size();
  if (from == 0) {
    HttpServer::send(socket, response("200 OK", static_cast<int64_t>(size)));
  } else {
    HttpServer::send(socket,
                     response("206 Partial Content", static_cast<int64_t>(size - from),
                              fmt::format("Content-Range: bytes {}-{}/{}\r\n", from, size - 1, size)));
  }
  HttpServer::send(socket, std::string_view(body()).substr(from));
}

class Fetch : public testing::Test {
 protected:
  void SetUp() override {
    for (const char* name : {"http_proxy", "all_proxy", "ALL_PROXY"}) ::unsetenv(name);
    folder_ = fs::temp_directory_path() / fmt::format("tril_fetch_test.{}", ::getpid());
    fs::remove_all(folder_);
    fs::create_directories(folder_);
    path_ = (folder_ / "text.txt").string();
    part_ = path_ + ".part";
    log::set_quiet(true);
    if (!fs::exists(fetch_module_paths()[0])) GTEST_SKIP() << "built without libcurl";
  }
  void TearDown() override {
    log::set_quiet(false);
    fs::remove_all(folder_);
  }

  static FetchSource source(const HttpServer& server, const std::string& path = "/text") {
    return {"text", "text.txt", server.url(path), static_cast<int64_t>(body().size()), sha256_hex(body()),
            "none"};
  }
  /// What the fetch is refused with; fails the test where it isn't.
  std::string refusal(const FetchSource& from, const FetchOptions& options = {}) {
    try {
      fetch(from, path_, options);
    } catch (const Refusal& error) {
      const std::string text = error.what();
      EXPECT_EQ(text.find('\n'), std::string::npos) << text;
      EXPECT_FALSE(fs::exists(path_)) << "a refused fetch leaves a file under the final name";
      return text;
    }
    ADD_FAILURE() << "the fetch was not refused";
    return "";
  }
  void leave_part(std::string_view bytes) { std::ofstream(part_, std::ios::binary) << bytes; }
  std::string part() const { return fs::exists(part_) ? read_file(part_) : "(none)"; }

  fs::path folder_;
  std::string path_, part_;
};

TEST_F(Fetch, TheWholeFileArrives) {
  HttpServer server(serve_well);
  path_ = (folder_ / "new" / "deep" / "text.txt").string();
  const FetchResult result = fetch(source(server), path_);
  EXPECT_FALSE(result.already);
  EXPECT_EQ(result.resumed_from, 0);
  EXPECT_EQ(read_file(path_), body());
  EXPECT_FALSE(fs::exists(path_ + ".part"));
  EXPECT_EQ(server.heads().size(), 1u);
  EXPECT_EQ(server.heads()[0].find("Range:"), std::string::npos);
}

TEST_F(Fetch, ARightFileIsNotFetchedAgainAndAnotherIsNotOverwritten) {
  HttpServer server(serve_well);
  write_file_atomically(path_, body());
  EXPECT_TRUE(fetch(source(server), path_).already);
  EXPECT_TRUE(server.heads().empty());
  write_file_atomically(path_, "mine");
  EXPECT_THROW(fetch(source(server), path_), Refusal);
  EXPECT_EQ(read_file(path_), "mine");
  EXPECT_TRUE(server.heads().empty());
}

TEST_F(Fetch, AfterABrokenConnectionTheNextTryGoesOn) {
  const size_t half = body().size() / 2;
  HttpServer server([&](HttpServer& self, int socket, const std::string& head) {
    if (wanted_from(head) > 0) return serve_well(self, socket, head);
    HttpServer::send(socket, response("200 OK", static_cast<int64_t>(body().size())));
    HttpServer::send(socket, std::string_view(body()).substr(0, half));
  });
  const std::string text = refusal(source(server));
  EXPECT_THAT(text, HasSubstr("110,000 of 220,000 bytes are kept in " + part_));
  EXPECT_EQ(part(), body().substr(0, half));
  const FetchResult result = fetch(source(server), path_);
  EXPECT_EQ(result.resumed_from, static_cast<int64_t>(half));
  EXPECT_EQ(read_file(path_), body());
  EXPECT_THAT(server.heads().back(), HasSubstr(fmt::format("Range: bytes={}-\r\n", half)));
}

TEST_F(Fetch, AWholePartNeedsNoServer) {
  HttpServer server(serve_well);
  leave_part(body());
  EXPECT_EQ(fetch(source(server), path_).resumed_from, static_cast<int64_t>(body().size()));
  EXPECT_EQ(read_file(path_), body());
  EXPECT_TRUE(server.heads().empty());
}

TEST_F(Fetch, AServerThatIgnoresRangesIsTakenFromTheStart) {
  HttpServer server([](HttpServer&, int socket, const std::string&) {
    HttpServer::send(socket, response("200 OK", static_cast<int64_t>(body().size())));
    HttpServer::send(socket, body());
  });
  leave_part("something else");
  fetch(source(server), path_);
  EXPECT_EQ(read_file(path_), body());
}

TEST_F(Fetch, ARangeThatIsNotTheOneAskedForIsFetchedAnew) {
  for (const std::string status : {"206 Partial Content", "416 Range Not Satisfiable"}) {
    HttpServer server([&](HttpServer& self, int socket, const std::string& head) {
      if (wanted_from(head) == 0) return serve_well(self, socket, head);
      HttpServer::send(socket, response(status, 5, "Content-Range: bytes 3-7/220000\r\n"));
      HttpServer::send(socket, body().substr(3, 5));
    });
    leave_part(body().substr(0, 1000));
    fetch(source(server), path_);
    EXPECT_EQ(read_file(path_), body()) << status;
    EXPECT_EQ(server.heads().size(), 2u) << status;
    fs::remove(path_);
  }
}

TEST_F(Fetch, AWrongDigestDeletesThePart) {
  HttpServer server([](HttpServer&, int socket, const std::string&) {
    std::string other = body();
    other[100] ^= 1;
    HttpServer::send(socket, response("200 OK", static_cast<int64_t>(other.size())));
    HttpServer::send(socket, other);
  });
  EXPECT_THAT(refusal(source(server)), HasSubstr("pinned is " + sha256_hex(body()) + ": deleted"));
  EXPECT_EQ(part(), "(none)");
}

TEST_F(Fetch, AWrongPartIsFoundByTheDigestOfTheWhole) {
  HttpServer server(serve_well);
  leave_part(std::string(1000, 'x'));
  EXPECT_THAT(refusal(source(server)), HasSubstr("deleted"));
  EXPECT_EQ(part(), "(none)");
  fetch(source(server), path_);
  EXPECT_EQ(read_file(path_), body());
}

TEST_F(Fetch, AnAnnouncedLengthThatIsNotTheFilesIsRefusedBeforeTheBody) {
  for (const int64_t lie : {int64_t{0}, int64_t{5}, int64_t{1} << 60}) {
    HttpServer server([&](HttpServer&, int socket, const std::string&) {
      HttpServer::send(socket, response("200 OK", lie));
      HttpServer::send(socket, lie > 0 ? "12345" : "");
    });
    EXPECT_THAT(refusal(source(server)), HasSubstr("bytes where 220,000 are due")) << lie;
    EXPECT_EQ(part(), "(none)");
  }
}

TEST_F(Fetch, ABodyBeyondItsLengthIsRefused) {
  HttpServer server([](HttpServer&, int socket, const std::string&) {
    HttpServer::send(socket,
                     "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n");  // no length: until the connection ends
    HttpServer::send(socket, body() + body());
  });
  EXPECT_THAT(refusal(source(server)), HasSubstr("sends more than the 220,000 bytes"));
  EXPECT_EQ(part(), "(none)");
}

TEST_F(Fetch, ABodyWithoutALengthThatEndsEarlyIsKept) {
  HttpServer server([](HttpServer& self, int socket, const std::string& head) {
    if (wanted_from(head) > 0) return serve_well(self, socket, head);
    HttpServer::send(socket, "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n" + body().substr(0, 7000));
  });
  EXPECT_THAT(refusal(source(server)), HasSubstr("ends early; 7,000 of 220,000 bytes are kept"));
  fetch(source(server), path_);
  EXPECT_EQ(read_file(path_), body());
}

TEST_F(Fetch, AStallIsGivenUpAndWhatCameIsKept) {
  for (const size_t sent : {size_t{0}, size_t{3000}}) {
    HttpServer server([&](HttpServer& self, int socket, const std::string&) {
      if (sent > 0) {
        HttpServer::send(socket, response("200 OK", static_cast<int64_t>(body().size())));
        HttpServer::send(socket, std::string_view(body()).substr(0, sent));
      }
      while (!self.stopping()) std::this_thread::sleep_for(std::chrono::milliseconds(5));
    });
    FetchOptions options;
    options.stall_seconds = 0.2;
    EXPECT_THAT(refusal(source(server), options), HasSubstr("nothing has come for too long"));
    EXPECT_EQ(part(), sent > 0 ? body().substr(0, sent) : "(none)");
  }
}

TEST_F(Fetch, ARedirectIsFollowedALoopIsNot) {
  HttpServer server([](HttpServer& self, int socket, const std::string& head) {
    if (head.rfind("GET /text", 0) == 0) return serve_well(self, socket, head);
    const std::string_view to = head.rfind("GET /once", 0) == 0 ? "/text" : "/round";
    HttpServer::send(socket, response("302 Found", 0, fmt::format("Location: {}\r\n", to)));
  });
  fetch(source(server, "/once"), path_);
  EXPECT_EQ(read_file(path_), body());
  fs::remove(path_);
  FetchOptions options;
  options.max_redirects = 3;
  EXPECT_THAT(refusal(source(server, "/round"), options), HasSubstr("redirects"));
  EXPECT_EQ(server.heads().size(), 2u + 4u);
  EXPECT_EQ(part(), "(none)");
}

TEST_F(Fetch, ARedirectToAFileIsRefused) {
  const std::string secret = (folder_ / "secret").string();
  write_file_atomically(secret, body());
  HttpServer server([&](HttpServer&, int socket, const std::string&) {
    HttpServer::send(socket, response("302 Found", 0, fmt::format("Location: file://{}\r\n", secret)));
  });
  refusal(source(server));
  EXPECT_EQ(part(), "(none)");
}

TEST_F(Fetch, AnErrorStatusIsToldAndLeavesNothing) {
  for (const std::string status : {"404 Not Found", "500 Internal Server Error", "204 No Content"}) {
    HttpServer server([&](HttpServer&, int socket, const std::string&) {
      HttpServer::send(socket, response(status, status[0] == '2' ? 0 : 5));
      if (status[0] != '2') HttpServer::send(socket, "sorry");
    });
    EXPECT_THAT(refusal(source(server)), HasSubstr("the server answers " + status.substr(0, 3))) << status;
    EXPECT_EQ(part(), "(none)");
  }
}

TEST_F(Fetch, AnErrorStatusKeepsAnEarlierPart) {
  HttpServer server(
      [](HttpServer&, int socket, const std::string&) { HttpServer::send(socket, response("503 Busy", 0)); });
  leave_part(body().substr(0, 1000));
  EXPECT_THAT(refusal(source(server)), HasSubstr("answers 503; 1,000 of 220,000 bytes are kept"));
  EXPECT_EQ(part(), body().substr(0, 1000));
}

TEST_F(Fetch, NoServerAtAll) {
  FetchSource gone;
  {
    HttpServer server(serve_well);
    gone = source(server);
  }
  EXPECT_THAT(refusal(gone), HasSubstr("try again later"));
  EXPECT_EQ(part(), "(none)");
}

TEST_F(Fetch, ASecondFetchOfTheSameFileIsRefused) {
  HttpServer server(serve_well);
  leave_part("12");
  const int other = ::open(part_.c_str(), O_RDWR);
  ASSERT_EQ(::flock(other, LOCK_EX), 0);
  EXPECT_THAT(refusal(source(server)), HasSubstr("another fetch is writing it"));
  ::close(other);
  EXPECT_EQ(part(), "12");
}

TEST_F(Fetch, AFolderThatCannotBeMadeIsRefused) {
  HttpServer server(serve_well);
  write_file_atomically((folder_ / "file").string(), "");
  path_ = (folder_ / "file" / "text.txt").string();
  EXPECT_THAT(refusal(source(server)), HasSubstr("can't be made"));
}

TEST_F(Fetch, AFullDiskIsToldAndThePartGoesOnLater) {
  HttpServer server(serve_well);
  fault::plan("write:2:full");
  const std::string text = refusal(source(server));
  fault::plan("");
  EXPECT_THAT(text, HasSubstr("No space left on device"));
  const std::string kept = part();
  EXPECT_EQ(kept, body().substr(0, kept.size()));
  EXPECT_EQ(fetch(source(server), path_).resumed_from, static_cast<int64_t>(kept.size()));
  EXPECT_EQ(read_file(path_), body());
}

TEST_F(Fetch, AFailedFlushOrRenameKeepsTheWholePart) {
  for (const std::string fault : {"flush:1:error", "rename:1:error"}) {
    HttpServer server(serve_well);
    fault::plan(fault);
    EXPECT_THAT(refusal(source(server)), HasSubstr("Input/output error")) << fault;
    fault::plan("");
    EXPECT_EQ(part(), body()) << fault;
    fetch(source(server), path_);
    EXPECT_EQ(server.heads().size(), 1u) << "the part was whole, nothing was left to ask for";
    fs::remove(path_);
  }
}

TEST_F(Fetch, WithoutTheModuleOneLineSaysWhichPackage) {
  HttpServer server(serve_well);
  FetchOptions options;
  options.modules = {"/nowhere/tril_fetch.so"};
  EXPECT_THAT(refusal(source(server), options), HasSubstr("install the package libcurl4-openssl-dev"));
  const std::string broken = (folder_ / "tril_fetch.so").string();
  write_file_atomically(broken, "no shared object");
  options.modules = {broken};
  EXPECT_THAT(refusal(source(server), options), HasSubstr("install the package libcurl4-openssl-dev"));
  EXPECT_EQ(part(), "(none)");
}

TEST_F(Fetch, QuietSaysNothingElseItSaysWhatItDoes) {
  HttpServer server(serve_well);
  testing::internal::CaptureStderr();
  fetch(source(server), path_);
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
  log::set_quiet(false);
  fs::remove(path_);
  testing::internal::CaptureStderr();
  fetch(source(server), path_);
  EXPECT_EQ(testing::internal::GetCapturedStderr(), fmt::format("text: 220 kB (none) from {}\n"
                                                                "{}: 220,000 bytes, SHA-256 as pinned\n",
                                                                server.url(), path_));
}

TEST(FetchTable, PinsOneRevisionWithADigest) {
  std::set<std::string> names;
  for (const FetchSource& source : fetch_sources()) {
    EXPECT_TRUE(names.insert(source.name).second);
    EXPECT_EQ(source.url.rfind("https://", 0), 0u) << source.url;
    EXPECT_EQ(source.url.find("/main/"), std::string::npos) << "a branch moves: " << source.url;
    EXPECT_EQ(source.url.find("/master/"), std::string::npos) << "a branch moves: " << source.url;
    EXPECT_EQ(source.sha256.size(), 64u);
    EXPECT_EQ(source.sha256.find_first_not_of("0123456789abcdef"), std::string::npos);
    EXPECT_GT(source.bytes, 0);
  }
  EXPECT_EQ(names, (std::set<std::string>{"tinyshakespeare", "tinystories"}));
}

TEST(FetchTable, AnUnknownNameIsRefusedWithTheNearest) {
  EXPECT_EQ(find_fetch_source("tinystories").file, "tinystories.txt");
  try {
    find_fetch_source("tinystorys");
    FAIL();
  } catch (const Refusal& error) {
    EXPECT_THAT(error.what(), HasSubstr("the nearest is 'tinystories'"));
  }
}

TEST(FetchTable, TinyshakespeareIsTheSharedOne) {
  const char* shared = std::getenv("TRIL_SHARED");
  const std::string path =
      (shared != nullptr ? std::string(shared) : std::string(TRIL_SOURCE_DIR "/../shared")) +
      "/data/tinyshakespeare.txt";
  if (!fs::exists(path)) GTEST_SKIP() << "no shared data";
  const FetchSource& source = find_fetch_source("tinyshakespeare");
  const std::string text = read_file(path);
  EXPECT_EQ(static_cast<int64_t>(text.size()), source.bytes);
  EXPECT_EQ(sha256_hex(text), source.sha256);
}

}  // namespace
}  // namespace tril
