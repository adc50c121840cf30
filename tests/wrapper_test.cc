// The wrapper ./tril in a scratch checkout with a program, compiler and packages of straw: when it builds,
// what it says where something is missing, and how it counts tests. What it leaves out: real packages
// (tests/bare_roots.sh).
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/wait.h>

#include <array>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>

namespace tril {
namespace {

namespace fs = std::filesystem;

struct Outcome {
  int status;
  std::string out;  // standard output and standard error, as they came
};

class Wrapper : public testing::Test {
 protected:
  Wrapper() {
    std::string name = (fs::temp_directory_path() / "tril wrapper XXXXXX").string();
    home_ = ::mkdtemp(name.data());
    root_ = home_ / "a checkout";
    const fs::path real = TRIL_SOURCE_DIR;
    for (const char* folder : {"src", "presets", "cmake", "tests", "bin", "build/release"})
      fs::create_directories(root_ / folder);
    fs::copy(real / "scripts", root_ / "scripts", fs::copy_options::recursive);
    for (const char* file : {"tril", "CMakeLists.txt", "CMakePresets.json"})
      fs::copy(real / file, root_ / file);
    write("src/a.cc", "");
    script("build/release/tril", "printf '<%s>' \"$@\"; exit 7");
    script("bin/dpkg-query", R"(for name in "$@"; do echo "installed $name"; done)");
    script("bin/apt-get", "echo apt-get was called; exit 100");
    script("bin/cmake", "echo cmake \"$@\"; exit 1");
    age("src/a.cc", 60);
    write("build/release/.built-tril", "");
    write("build/release/build.ninja", "");
  }
  ~Wrapper() override { fs::remove_all(home_); }

  void write(const std::string& file, const std::string& text) { std::ofstream(root_ / file) << text; }
  void script(const std::string& file, const std::string& body) {
    write(file, "#!/bin/bash\n" + body + "\n");
    fs::permissions(root_ / file, fs::perms::owner_all);
  }
  /// Everything is this many seconds old, or the file is so many newer with a negative number.
  void age(const std::string& file, int seconds) {
    fs::last_write_time(root_ / file, fs::file_time_type::clock::now() - std::chrono::seconds(seconds));
  }
  Outcome shell(const std::string& command) {
    const std::string whole = "cd '" + home_.string() +
                              "' && export PATH=\"$PWD/a checkout/bin:$PATH\" && unset CI && ( " + command +
                              " ) 2>&1 </dev/null";
    FILE* pipe = ::popen(whole.c_str(), "r");
    Outcome outcome{0, ""};
    std::array<char, 4096> block;
    for (size_t got; (got = std::fread(block.data(), 1, block.size(), pipe)) > 0;)
      outcome.out.append(block.data(), got);
    const int status = ::pclose(pipe);
    outcome.status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    return outcome;
  }

  fs::path home_, root_;
};

TEST_F(Wrapper, PassesWordsAndExitStatusThroughFromAnyPlace) {
  for (const std::string& command :
       {std::string("'a checkout/tril' generate 'two words' ''"),
        std::string("cd 'a checkout/src' && ../tril generate 'two words' ''"),
        std::string("ln -s 'a checkout/tril' x && ln -s ../x 'a checkout/y' && cd / && \"$OLDPWD/a "
                    "checkout/y\" generate 'two words' ''"),
        std::string("cd 'a checkout' && PATH=$PWD:$PATH && cd / && tril generate 'two words' ''"),
        std::string("cd 'a checkout' && bash tril generate 'two words' ''")}) {
    const Outcome outcome = shell(command);
    EXPECT_EQ(outcome.out, "<generate><two words><>") << command;
    EXPECT_EQ(outcome.status, 7) << command;
  }
}

TEST_F(Wrapper, BuildsAgainAfterAnEditAndRunsNothingStale) {
  age("src/a.cc", -60);
  const Outcome failed = shell("'a checkout/tril' generate");
  EXPECT_EQ(failed.status, 2);
  EXPECT_NE(failed.out.find("cmake --build build/release --target tril"), std::string::npos) << failed.out;
  EXPECT_NE(failed.out.find("tril: the build failed: the compiler's lines are above\n"), std::string::npos);
  EXPECT_EQ(failed.out.find("<generate>"), std::string::npos) << "a stale program ran";

  age("src/a.cc", 60);
  script("bin/cmake", "exit 0");
  EXPECT_EQ(shell("'a checkout/tril' generate").out, "<generate>") << "an up-to-date program needs no build";
}

TEST_F(Wrapper, SeesNewAndRemovedFiles) {
  age("build/release/.built-tril", -30);
  script("bin/cmake", "echo built >&2; exit 1");
  EXPECT_EQ(shell("'a checkout/tril' x").status, 7);
  fs::create_directory(root_ / "src/room");
  age("src/room", -60);
  EXPECT_EQ(shell("'a checkout/tril' x").status, 2);
}

TEST_F(Wrapper, SeveralAtOnceBuildOnce) {
  age("src/a.cc", -2);
  script("bin/cmake",
         "echo built >>\"$OLDPWD/log\" 2>/dev/null || echo built >>../log; sleep 0.3; touch -d '+1 hour' "
         "build/release/.began-tril");
  const Outcome outcome =
      shell("for i in 1 2 3; do 'a checkout/tril' x & done; wait; cat log 'a checkout/../log' | sort -u");
  EXPECT_NE(outcome.out.find("<x><x>"), std::string::npos) << outcome.out;
  EXPECT_EQ(shell("grep -c built log").out, "1\n");
}

TEST_F(Wrapper, OneLineSaysWhichPackageIsMissingAndHowToGetIt) {
  age("src/a.cc", -60);
  script("bin/dpkg-query",
         R"(for name in "$@"; do [[ $name == libhwy-dev ]] || echo "installed $name"; done)");
  const Outcome asked = shell("TRIL_INSTALL=no 'a checkout/tril' x");
  EXPECT_EQ(asked.out, "tril: packages are missing: libhwy-dev. Get them with: apt-get install libhwy-dev\n");
  EXPECT_EQ(asked.status, 2);

  script("bin/sudo", R"([[ $1 != -n ]] || shift; exec "$@")");
  script("bin/apt-cache", "exit 0");
  const Outcome offline = shell("'a checkout/tril' x");
  EXPECT_NE(offline.out.find(
                "tril: could not install libhwy-dev: the package lists can't be fetched (no network?). "
                "When it is back: apt-get update && apt-get install libhwy-dev"),
            std::string::npos)
      << offline.out;
  EXPECT_EQ(offline.status, 2);

  script("bin/apt-get", "[[ \" $* \" == *' update '* ]]");
  script("bin/apt-cache", "exit 100");
  const Outcome unknown = shell("'a checkout/tril' x");
  EXPECT_NE(unknown.out.find("could not install libhwy-dev: not among this system's packages"),
            std::string::npos)
      << unknown.out;
}

// A test program of straw: share 0 has two passed and one skipped test, share 1 does what $2 says.
class Counting : public Wrapper {
 protected:
  Outcome count(const std::string& second_share, const std::string& environment = "") {
    script("build/release/tril_tests", R"(
      for word in "$@"; do [[ $word != --gtest_list_tests ]] || { printf 'S.\n  a\n'; exit; }; done
      xml=${1#--gtest_output=xml:}
      tests() { { echo '<testsuites>'; echo '  <testsuite name="S">'; cat; echo '  </testsuite>'; } >"$xml"; }
      if [[ $GTEST_SHARD_INDEX == 0 ]]; then
        tests <<'XML'
    <testcase name="a" file="x" line="1" status="run" result="completed" time="0.1" classname="S" />
    <testcase name="off" status="notrun" result="suppressed" time="0" classname="S" />
    <testcase name="b/0" value_param="1" status="run" result="completed" time="0" classname="P/S" />
    <testcase name="c" status="run" result="skipped" time="0" classname="S">
      <skipped message="no shared data"/>
    </testcase>
XML
        exit 0
      fi
      )" + second_share);
    script("bin/nproc", "echo 2");
    write("build/release/.built-all", "");
    return shell(environment + " 'a checkout/tril' test");
  }
};

const char kPasses[] = R"(tests <<<'    <testcase name="d" status="run" time="0" classname="S" />')";

TEST_F(Counting, ClosingLineCountsAllShares) {
  const Outcome outcome = count(kPasses);
  EXPECT_EQ(outcome.out, "skipped: S.c\n3 passed, 0 failed, 1 skipped\n");
  EXPECT_EQ(outcome.status, 0);
}

TEST_F(Counting, AFailureIsShownAndFails) {
  const Outcome outcome = count(R"(
    printf '[ RUN      ] S.d\nwhy it failed\n[  FAILED  ] S.d (3 ms)\n[ RUN      ] S.e\nquiet\n[       OK ] S.e (1 ms)\n'
    tests <<'XML'
    <testcase name="d" status="run" time="0" classname="S">
      <failure message="one" type=""><![CDATA[one]]></failure>
      <failure message="two" type=""><![CDATA[two]]></failure>
    </testcase>
    <testcase name="e" status="run" time="0" classname="S" />
XML
    exit 1)");
  EXPECT_EQ(outcome.out,
            "skipped: S.c\n[ RUN      ] S.d\nwhy it failed\n[  FAILED  ] S.d (3 ms)\nfailed: S.d\n"
            "3 passed, 1 failed, 1 skipped\n");
  EXPECT_EQ(outcome.status, 1);
}

TEST_F(Counting, AProgramThatDiesFailsByTheTestItDiedIn) {
  const Outcome outcome = count("printf '[ RUN      ] S.d\\nlast words\\n'; kill -SEGV $$");
  EXPECT_NE(
      outcome.out.find("last words\n(the tests ended here, with status 139; those after it did not run)\n"
                       "failed: S.d\n2 passed, 1 failed, 1 skipped\n"),
      std::string::npos)
      << outcome.out;
  EXPECT_EQ(outcome.status, 1);
}

TEST_F(Counting, AStatusWithoutAFailureFails) {
  EXPECT_EQ(count(std::string(kPasses) + "\nexit 3").status, 1);
}

TEST_F(Counting, InCiASkipOutsideTheListFails) {
  const Outcome outcome = count(kPasses, "CI=true");
  EXPECT_EQ(outcome.out,
            "skipped, and not in tests/allowed_skips.txt, so it counts as failed: S.c\nfailed: S.c\n"
            "3 passed, 1 failed, 0 skipped\n");
  EXPECT_EQ(outcome.status, 1);
  write("tests/allowed_skips.txt", "# why\nS.[bc]  # no such machine\n");
  EXPECT_EQ(count(kPasses, "CI=true").status, 0);
}

}  // namespace
}  // namespace tril
