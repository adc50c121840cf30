// Runs under hardship, by the program itself: interrupts before there is anything to save, little memory,
// standard input as the text, folders that were moved, edited settings, and what is refused before work
// begins.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "program.h"
#include "tril/base/file.h"

namespace tril {
namespace {

using Json = nlohmann::json;
using testing::HasSubstr;
using testing::Not;
namespace fs = std::filesystem;

std::vector<std::string> training(const std::string& out, const std::vector<std::string>& more = {}) {
  std::vector<std::string> words = {"train", "one-head-smoke", "--out", out, "--quiet", "--steps", "3"};
  for (const char* setting : {"data.stories=40", "train.batch=8", "train.eval_every=2", "train.log_every=1",
                              "model.d_model=8", "model.hidden=8", "data.vocabulary=100"})
    words.insert(words.end(), {"--set", setting});
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

// Until the program has taken a signal over from the system.
void wait_until_guarded(pid_t process, int signal = SIGINT) {
  const std::string path = "/proc/" + std::to_string(process) + "/status";
  for (int tries = 0; tries < 5000; ++tries) {
    const std::string status = read_file(path);
    const size_t at = status.find("SigCgt:");
    if (at != std::string::npos && (std::stoull(status.substr(at + 7), nullptr, 16) >> (signal - 1)) % 2 == 1)
      return;
    ::usleep(2000);
  }
  ADD_FAILURE() << "the program never took signal " << signal;
}

// A pipe without a writer's end: whoever reads it waits, as for a slow disk or a person.
class Interrupts : public testing::Test {
 protected:
  void SetUp() override {
    before_int_ = ::signal(SIGINT, SIG_DFL);  // a shell's "&" has it ignored, and the program inherits that
    ASSERT_EQ(run_program(training(folder_ / "run")).exit_code, 0);
    ASSERT_EQ(mkfifo((folder_ / "pipe").c_str(), 0600), 0);
    before_ = list_folder(folder_.path());
  }

  void TearDown() override { ::signal(SIGINT, before_int_); }

  void expect_ended(const std::vector<std::string>& words, int signal) {
    Program program(words, {.folder = folder_.path()});
    wait_until_guarded(program.pid());
    ::usleep(200000);  // until it waits for the pipe
    program.kill(signal);
    const ProgramResult result = program.wait();
    EXPECT_EQ(result.exit_code, signal == SIGINT ? 130 : 143) << words[0] << result.err;
    EXPECT_THAT(result.err, testing::EndsWith("\n"));
    EXPECT_THAT(result.err, HasSubstr("tril: interrupted")) << words[0];
    EXPECT_EQ(result.out, "") << words[0];
    EXPECT_EQ(list_folder(folder_.path()), before_) << words[0];
  }

  const TemporaryFolder folder_;
  std::vector<std::string> before_;
  sighandler_t before_int_ = SIG_DFL;
};

TEST_F(Interrupts, WhileATextIsReadLeaveNothingAndOneLine) {
  const std::vector<std::vector<std::string>> commands = {
      {"train", "--data", "pipe", "--out", "new"},
      {"data", "audit", "pipe"},
      {"data", "tokenize", "pipe"},
      {"data", "train-tokenizer", "pipe", "--vocab", "300", "--out", "new.json"},
      {"eval", "run", "--data", "pipe"},
      {"score", "run", "--file", "pipe"}};
  for (const auto& words : commands) expect_ended(words, words[0] == "eval" ? SIGTERM : SIGINT);
}

TEST_F(Interrupts, WhileWorkIsDoneLeaveNothingAndOneLine) {
  std::string text;
  for (int64_t i = 0; text.size() < 30000000; ++i)
    text += "the " + std::to_string(i * 7919 % 100003) + " cats and dogs of number " + std::to_string(i) +
            " ran\n" + (i % 9 == 0 ? "\n" : "");
  write_file_atomically(folder_ / "big.txt", text);
  before_ = list_folder(folder_.path());
  const std::vector<std::vector<std::string>> commands = {
      {"train", "--data", "big.txt", "--out", "new"},
      {"data", "train-tokenizer", "big.txt", "--vocab", "30000", "--out", "new.json"},
      {"check", "one-head-64"}};
  for (const auto& words : commands) {
    Program program(words, {.folder = folder_.path()});
    wait_until_guarded(program.pid());
    ::usleep(50000);
    program.kill(SIGINT);
    const ProgramResult result = program.wait();
    EXPECT_EQ(result.exit_code, 130) << words[1] << result.err;
    EXPECT_THAT(result.err, HasSubstr("tril: interrupted")) << words[1];
    EXPECT_EQ(list_folder(folder_.path()), before_) << words[1];
  }
}

// As under a script's "&": SIGINT, ignored from the start, stays so, but where work could be saved.
TEST_F(Interrupts, AnIgnoredSigintStaysSoButInTraining) {
  ::signal(SIGINT, SIG_IGN);
  expect_ended({"train", "--data", "pipe", "--out", "new"}, SIGINT);
  Program program({"score", "run", "--file", "pipe"}, {.folder = folder_.path()});
  wait_until_guarded(program.pid(), SIGTERM);
  program.kill(SIGINT);
  write_file_atomically(folder_ / "pipe", "the cat\n");
  const ProgramResult result = program.wait();
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.err, Not(HasSubstr("interrupted")));
}

// A signal may come while oneDNN's generated code has the stack pointer for a register: the handler must not
// write there. Without a stack of its own a third of these ended with a damaged heap.
TEST(InterruptedProducts, InTheMidstOfMatrixProductsSaveTheWork) {
  const TemporaryFolder folder;
  for (int i = 0; i < 8; ++i) {
    const std::string run = folder / ("run" + std::to_string(i));
    Program program({"train", "one-head-classroom", "--out", run, "--quiet"});
    const std::string first = run + "/checkpoints/step-00000001";
    for (int tries = 0; tries < 5000 && !fs::exists(first); ++tries) ::usleep(2000);
    ::usleep(static_cast<useconds_t>(20000 + 37000 * i));
    program.kill(SIGINT);
    const ProgramResult result = program.wait();
    EXPECT_EQ(result.signal, 0) << result.err;
    EXPECT_EQ(result.exit_code, 130) << result.err;
  }
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)  // they reserve terabytes
// At every limit of memory a command ends with its result or with one line: never by a signal, never with a
// run half made.
TEST(Memory, ALimitIsToldInOneLine) {
  const TemporaryFolder folder;
  const rlim_t most = rlim_t{600} << 20;
  int refused = 0;
  for (rlim_t limit = rlim_t{24} << 20; limit < most; limit += rlim_t{23} << 20) {
    const std::string command = "ulimit -v " + std::to_string(limit >> 10) + "; exec \"$0\" \"$@\"";
    std::vector<std::string> words = {"-c", command, TRIL_PROGRAM};
    const std::vector<std::string> own = training(folder / "run", {"--threads", "8"});
    words.insert(words.end(), own.begin(), own.end());
    const ProgramResult result = run_program(words, {.program = "/bin/sh"});
    EXPECT_EQ(result.signal, 0) << limit << result.err;
    if (result.exit_code == 0) break;
    if (result.exit_code == 127) continue;  // the system could not even load the program
    ++refused;
    EXPECT_EQ(result.exit_code, 2) << limit << result.err;
    EXPECT_THAT(result.err, HasSubstr("tril: ")) << limit;
    if (fs::exists(folder / "run")) {
      EXPECT_TRUE(fs::exists(folder / "run/last.json")) << limit;  // else nothing is left
    }
    fs::remove_all(folder / "run");
  }
  EXPECT_GT(refused, 0);
}
#endif

TEST(Refusals, ComeBeforeTheRunIsSaidAndBeforeWork) {
  const TemporaryFolder folder;
  const ProgramOptions here{.folder = folder.path()};
  ASSERT_EQ(run_program(training("run"), here).exit_code, 0);
  for (const char* dry : {"--dry-run", "--json"}) {
    EXPECT_EQ(run_program({"train", "--out", "run", dry}, here).err,
              "tril: run: already holds a run; go on with it (tril resume run) or give another --out\n");
    const ProgramResult odd = run_program({"train", "--out", "a\xFF", dry}, here);
    EXPECT_EQ(odd.exit_code, 2);
    EXPECT_THAT(odd.err, HasSubstr("byte 1 is not valid UTF-8"));
    EXPECT_EQ(run_program({"train", "--data", "b\xFF.txt", "--out", "r", dry}, here).exit_code, 2);
  }
  EXPECT_EQ(list_folder(folder.path()), std::vector<std::string>{"run"});
  write_file_atomically(folder / "empty.txt", "");
  const ProgramResult empty = run_program({"train", "--data", "empty.txt", "--out", "new"}, here);
  EXPECT_EQ(empty.exit_code, 2);
  EXPECT_THAT(empty.err, Not(HasSubstr("run: ")));
  std::string text = "[train]\n";
  for (int i = 0; i < 20000; ++i) text += "key_" + std::to_string(i) + " = 1\n";
  write_file_atomically(folder / "many.toml", text);
  const ProgramResult many = run_program({"train", "many.toml"}, here);
  EXPECT_EQ(std::count(many.err.begin(), many.err.end(), '\n'), 21);
  EXPECT_THAT(many.err, testing::EndsWith("tril: many.toml: and 19980 faults more\n"));
}

TEST(MovedRun, TellsItsNewPlace) {
  const TemporaryFolder folder;
  ASSERT_EQ(run_program(training(folder / "old")).exit_code, 0);
  fs::rename(folder / "old", folder / "new");
  const ProgramResult shown = run_program({"resume", folder / "new"});
  EXPECT_EQ(shown.exit_code, 0) << shown.err;
  EXPECT_THAT(shown.out, HasSubstr("run         " + (folder / "new") + "\n"));
  EXPECT_THAT(shown.out, Not(HasSubstr(folder / "old")));
}

TEST(StandardInput, AsTheTextIsAskedForAgain) {
  const TemporaryFolder folder;
  std::string text;
  for (int i = 0; i < 40; ++i) text += "cat " + std::to_string(i) + " sat on the mat .\n\n";
  const std::vector<std::string> words = training(folder / "run", {"--data", "-"});
  ASSERT_EQ(run_program(words, {.input = text}).exit_code, 0);
  const std::string again = "the text of " + (folder / "run") +
                            " came by standard input: give it the same again, "
                            "as in tril resume " +
                            (folder / "run") + " < FILE\n";
  for (const char* input : {"", "another text .\n"}) {
    const ProgramResult other = run_program({"resume", folder / "run", "--steps", "5"}, {.input = input});
    EXPECT_EQ(other.exit_code, 2);
    EXPECT_THAT(other.err, HasSubstr(again)) << other.err;
  }
  EXPECT_EQ(run_program({"resume", folder / "run", "--steps", "5"}, {.input = text}).exit_code, 0);
  EXPECT_EQ(run_program({"eval", folder / "run"}, {.input = text}).exit_code, 0);
}

TEST(EditedRun, IsRefusedByEveryCommandThatUsesIt) {
  const TemporaryFolder folder;
  const std::string run = folder / "run";
  ASSERT_EQ(run_program(training(run)).exit_code, 0);
  std::string config = read_file(run + "/config.toml");
  const size_t at = config.find("\nseed = 11");
  ASSERT_NE(at, std::string::npos);
  write_file_atomically(run + "/config.toml", config.replace(at, 10, "\nseed = 12"));
  const std::vector<std::vector<std::string>> commands = {{"resume", run},
                                                          {"resume", run, "--steps", "9"},
                                                          {"eval", run},
                                                          {"check", run},
                                                          {"generate", run, "--prompt", "a"},
                                                          {"score", run, "--text", "a"},
                                                          {"trace", run, "--text", "a"}};
  for (const auto& words : commands) {
    const ProgramResult result = run_program(words);
    EXPECT_EQ(result.exit_code, 2) << words[0];
    EXPECT_THAT(result.err, HasSubstr("train.seed is 12, it was 11; put the file back as it was"))
        << words[0];
    EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1) << words[0];
  }
}

TEST(DamagedRun, ItsDataFileIsToldByFileAndKey) {
  const TemporaryFolder folder;
  const std::string run = folder / "run";
  ASSERT_EQ(run_program(training(run)).exit_code, 0);
  for (const char* text : {"", "{\"source\": {\"sha256\": ", "[]", "{\"source\": {}}", "{\"source\": 1}"}) {
    write_file_atomically(run + "/data.json", text);
    for (const auto& words :
         {std::vector<std::string>{"eval", run}, {"check", run}, {"resume", run, "--steps", "9"}}) {
      const ProgramResult result = run_program(words);
      EXPECT_EQ(result.exit_code, 2) << words[0];
      EXPECT_THAT(result.err, HasSubstr("tril: " + run + "/data.json: ")) << words[0];
      EXPECT_THAT(result.err, Not(HasSubstr("json.exception"))) << words[0];
    }
  }
}

// Without validation text there is no loss of it: not 0, not NaN, not a word of a lowest one.
TEST(NoValidation, IsNeverToldAsANumber) {
  const TemporaryFolder folder;
  const ProgramResult trained = run_program(training(folder / "run", {"--set", "data.split=none"}));
  ASSERT_EQ(trained.exit_code, 0) << trained.err;
  EXPECT_THAT(trained.out, HasSubstr("validation  none: there is no validation text\n"));
  EXPECT_THAT(trained.err, Not(HasSubstr("lowest")));
  const Json result = Json::parse(read_file(folder / "run/result.json"));
  EXPECT_TRUE(result["validation_loss"].is_null());
  EXPECT_TRUE(result["validation_perplexity"].is_null());
  for (const Json& point : result["trace"]) EXPECT_TRUE(point["validation_loss"].is_null());
  EXPECT_EQ(result["selected_step"], 3);
  const ProgramResult evaluated = run_program({"eval", folder / "run", "--json"});
  EXPECT_EQ(evaluated.exit_code, 0);
  EXPECT_TRUE(Json::parse(evaluated.out)["loss"].is_null());
  EXPECT_EQ(run_program({"eval", folder / "run"}).out, "validation: no targets, so there is no loss\n");
}

}  // namespace
}  // namespace tril
