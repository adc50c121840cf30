// From a text to a run and back to text, by the program itself: train, resume, eval, generate, score, and
// what they refuse.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <thread>

#include "program.h"

namespace tril {
namespace {

using Json = nlohmann::json;
using testing::HasSubstr;
using testing::StartsWith;
namespace fs = std::filesystem;

std::vector<std::string> small_run(const std::string& out, std::vector<std::string> more = {}) {
  std::vector<std::string> words = {"train",  "one-head-smoke", "--out",   out,
                                    "--json", "--quiet",        "--steps", "6"};
  for (const char* setting : {"data.stories=60", "train.batch=16", "train.eval_every=3", "train.log_every=1",
                              "model.d_model=16", "model.hidden=24", "data.vocabulary=300"}) {
    words.emplace_back("--set");
    words.emplace_back(setting);
  }
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

std::string read_all(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

// One small run that the tests below only read.
class CliRun : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder_ = new TemporaryFolder;
    trained_ = new ProgramResult(run_program(small_run(*folder_ / "run")));
  }
  static void TearDownTestSuite() {
    delete trained_;
    delete folder_;
  }
  static std::string run() { return *folder_ / "run"; }
  static Json result() { return Json::parse(trained_->out); }

  static TemporaryFolder* folder_;
  static ProgramResult* trained_;
};
TemporaryFolder* CliRun::folder_ = nullptr;
ProgramResult* CliRun::trained_ = nullptr;

// Case 44: a line for each step, with its rate and losses, is always written, and its place is told.
TEST_F(CliRun, TheLossesHaveAPlaceThatIsTold) {
  std::istringstream lines(read_all(run() + "/metrics.jsonl"));
  int step = 0;
  for (std::string line; std::getline(lines, line);) {
    const Json row = Json::parse(line);
    EXPECT_EQ(row["step"].get<int>(), ++step);
    for (const char* field : {"train_batch_loss", "lr", "tokens_seen", "seconds"})
      EXPECT_TRUE(row[field].is_number()) << field;
    EXPECT_EQ(row.contains("validation_loss"), step == 1 || step == 3 || step == 6);
  }
  EXPECT_EQ(step, 6);
  const ProgramResult again = run_program({"resume", run()});
  EXPECT_THAT(again.out, HasSubstr("losses      " + run() + "/metrics.jsonl, a line for each logged step\n"));
}

TEST_F(CliRun, TrainTellsWhatItDid) {
  ASSERT_EQ(trained_->exit_code, 0) << trained_->err;
  const Json json = result();
  for (const char* field : {"run", "parameters", "documents", "targets", "vocab_size", "steps",
                            "selected_step", "tokens_seen", "validation_loss", "validation_perplexity",
                            "seconds", "tokens_per_second", "peak_bytes", "approximate_multiplies", "trace"})
    EXPECT_TRUE(json.contains(field)) << field;
  EXPECT_EQ(json["steps"].get<int>(), 6);
  EXPECT_EQ(json["tokens_seen"].get<int>(), 6 * 16);
  EXPECT_EQ(json["trace"].size(), 3u);  // steps 1, 3 and 6
  EXPECT_NEAR(json["validation_perplexity"].get<double>(), std::exp(json["validation_loss"].get<double>()),
              1e-6);
  for (const char* file : {"config.toml", "tokenizer.json", "data.json", "metrics.jsonl", "best.json",
                           "last.json", "result.json"})
    EXPECT_TRUE(fs::exists(run() + "/" + file)) << file;
}

TEST_F(CliRun, EvalGivesTheLossThatTrainingGave) {
  const ProgramResult evaluated = run_program({"eval", run(), "--json"});
  ASSERT_EQ(evaluated.exit_code, 0) << evaluated.err;
  const Json json = Json::parse(evaluated.out);
  EXPECT_EQ(json["loss"].get<double>(), result()["validation_loss"].get<double>());
  EXPECT_EQ(json["targets"], result()["targets"]["validation"]);
  EXPECT_FALSE(fs::exists(run() + "/test.jsonl"));
  const ProgramResult test = run_program({"eval", run(), "--split", "test", "--json"});
  ASSERT_EQ(test.exit_code, 0) << test.err;
  EXPECT_EQ(Json::parse(test.out)["split"].get<std::string>(), "test");
  EXPECT_EQ(Json::parse(read_all(run() + "/test.jsonl"))["loss"], Json::parse(test.out)["loss"]);
}

TEST_F(CliRun, GenerateIsSeededAndStreams) {
  const std::vector<std::string> words = {"generate",         run(), "--prompt", "Once upon a zebra",
                                          "--max-new-tokens", "12",  "--seed",   "8"};
  const ProgramResult first = run_program(words);
  ASSERT_EQ(first.exit_code, 0) << first.err;
  EXPECT_THAT(first.err, HasSubstr("zebra"));  // an unknown word is named
  EXPECT_EQ(run_program(words).out, first.out);
  std::vector<std::string> as_json = words;
  as_json.emplace_back("--json");
  as_json.insert(as_json.end(), {"--top", "3"});
  const Json json = Json::parse(run_program(as_json).out);
  EXPECT_EQ(json["text"].get<std::string>() + "\n", first.out);
  EXPECT_EQ(json["unknown"], Json::parse(R"(["zebra"])"));
  EXPECT_EQ(json["tokens"][0]["alternatives"].size(), 3u);
  EXPECT_THAT(json["text"].get<std::string>(), testing::EndsWith(json["continuation"].get<std::string>()));
  const Json two =
      Json::parse(run_program({"generate", run(), "--prompt", "a", "--samples", "2", "--json"}).out);
  EXPECT_EQ(two["samples"].size(), 2u);
  EXPECT_EQ(
      run_program({"generate", run(), "--prompt", "-", "--greedy", "--max-new-tokens", "3"},
                  {.input = "once upon"})
          .out,
      run_program({"generate", run(), "--prompt", "once upon", "--temperature", "0", "--max-new-tokens", "3"})
          .out);
}

TEST_F(CliRun, GenerateRefusesWhatIsOutOfRange) {
  const auto error = [](std::vector<std::string> more) {
    std::vector<std::string> words = {"generate", run(), "--prompt", "a"};
    words.insert(words.end(), more.begin(), more.end());
    const ProgramResult result = run_program(words);
    EXPECT_EQ(result.exit_code, 2);
    return result.err;
  };
  EXPECT_EQ(error({"--temperature", "-1"}), "tril: --temperature must be 0 to 1000, is -1\n");
  EXPECT_EQ(error({"--temperature", "nan"}), "tril: --temperature must be a finite number, is 'nan'\n");
  EXPECT_EQ(error({"--top-k", "-3"}), "tril: --top-k must be 0 to 1,000,000,000, is -3\n");
  EXPECT_EQ(error({"--top-p", "0"}), "tril: --top-p must be above 0 and at most 1, is 0\n");
  EXPECT_EQ(error({"--greedy", "--temperature", "1"}),
            "tril: --greedy and --temperature 1 exclude each other\n");
  EXPECT_EQ(error({"--min-p", "1"}), "tril: --min-p must be 0 or more and below 1, is 1\n");
  EXPECT_EQ(error({"--skip-unknown"}),
            "tril: --skip-unknown: " + run() +
                " has a word tokenizer, and only a char vocabulary refuses characters\n");
  EXPECT_EQ(error({"--stop", "\xFF"}),
            "tril: --stop: byte 0: not valid UTF-8 (0xFF); save the text as UTF-8\n");
  EXPECT_THAT(error({"--at", "2"}), HasSubstr("step"));
  EXPECT_EQ(run_program({"generate", run(), "--prompt", "a", "--top-k", "99999"}).exit_code,
            0);  // all there are
  EXPECT_THAT(run_program({"generate", *folder_ / "none", "--prompt", "a"}).err,
              HasSubstr(*folder_ / "none"));
}

TEST_F(CliRun, ScoreAddsUp) {
  const Json json = Json::parse(run_program({"score", run(), "--text", "once upon a time", "--json"}).out);
  double nats = 0;
  for (const Json& token : json["tokens"]) nats -= token["logprob"].get<double>();
  ASSERT_GE(json["targets"].get<int>(), 4);
  EXPECT_NEAR(nats / json["targets"].get<double>(), json["loss"].get<double>(), 1e-9);
  EXPECT_NEAR(json["bits_per_byte"].get<double>(), nats / std::log(2.0) / 16, 1e-9);  // 16 bytes of text
  std::ofstream(*folder_ / "t.txt") << "once upon a time";
  EXPECT_EQ(Json::parse(run_program({"score", run(), "--file", *folder_ / "t.txt", "--json"}).out), json);
  EXPECT_EQ(run_program({"score", run()}).err, "tril: give either --text or --file\n");
}

// A text from a file or a pipe is held to the rules of every file of text.
TEST_F(CliRun, TextsFromFilesAreCheckedAsDataIs) {
  using namespace std::string_view_literals;
  const std::string path = *folder_ / "odd.txt";
  const auto put = [&](std::string_view bytes) {
    std::ofstream(path, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  };
  const auto each = [&](std::string_view bytes, int code, const std::string& error) {
    put(bytes);
    const std::string input(bytes);
    for (const ProgramResult& result :
         {run_program({"score", run(), "--file", path, "--json"}),
          run_program({"score", run(), "--file", "-", "--json"}, {.input = input}),
          run_program({"score", run(), "--text", "-", "--json"}, {.input = input}),
          run_program({"generate", run(), "--prompt", "-", "--json", "--max-new-tokens", "1"},
                      {.input = input})}) {
      EXPECT_EQ(result.exit_code, code) << error;
      EXPECT_THAT(result.err, HasSubstr(error));
      if (code != 0) {
        EXPECT_EQ(result.out, "");
      }
    }
  };
  each("\xEF\xBB\xBFonce upon", 0, "the byte-order mark at its start is dropped");
  each("\xFF\xFEo\0n\0c\0e\0"sv, 2, "UTF-16");
  each("once \xE9", 2, "byte 5: not valid UTF-8");
  each("\x1F\x8B\x08\0"sv, 2, "gunzip");
  put("");
  EXPECT_EQ(run_program({"score", run(), "--file", path}).err, "tril: " + path + ": no text: it is empty\n");
  EXPECT_EQ(run_program({"score", run(), "--text", "-"}).err, "tril: standard input: no text: it is empty\n");
  EXPECT_EQ(run_program({"generate", run(), "--prompt", "-", "--max-new-tokens", "1"}).exit_code, 0);
  EXPECT_THAT(run_program({"score", run(), "--file", "/dev/zero"}).err,
              HasSubstr("is a device, which need not end"));
  EXPECT_THAT(run_program({"score", run(), "--file", *folder_ / "run"}).err, HasSubstr("is a folder"));
}

TEST_F(CliRun, SamplesAreNumberedAndSeeded) {
  const std::vector<std::string> words = {"generate", run(), "--prompt", "once", "--max-new-tokens", "9"};
  const auto with = [&](std::vector<std::string> more) {
    more.insert(more.begin(), words.begin(), words.end());
    return run_program(more);
  };
  const Json all = Json::parse(with({"--samples", "4", "--json"}).out)["samples"];
  ASSERT_EQ(all.size(), 4u);
  std::string lines;
  for (const Json& sample : all)
    lines += (lines.empty() ? "" : "\n") + sample["text"].get<std::string>() + "\n";
  EXPECT_EQ(with({"--samples", "4"}).out, lines);
  EXPECT_EQ(with({}).out, all[0]["text"].get<std::string>() + "\n");
  EXPECT_NE(all[0]["text"], all[1]["text"]);
  EXPECT_EQ(all[0]["prompt_ids"].size(), all[0]["prompt_tokens"].get<size_t>());
}

// Case 2: a byte-order mark is dropped with a note and is in no vocabulary; a straight quote that the text
// lacks, having curly ones alone, is named with its place.
TEST(CliGenerate, MarksAndQuotesOfTheTextAreNotThoseOfThePrompt) {
  const TemporaryFolder folder;
  std::ofstream(folder / "t.txt") << "\xEF\xBB\xBF\u201CWho is there?\u201D said the cat. \u201CI am.\u201D";
  const ProgramResult trained = run_program(
      {"train", "tiny-gpt-abc", "--steps", "2", "--out", folder / "r", "--data", folder / "t.txt"});
  ASSERT_EQ(trained.exit_code, 0) << trained.err;
  EXPECT_THAT(trained.err, HasSubstr("t.txt: the byte-order mark at its start is dropped"));
  const auto refused = [&](const std::string& prompt) {
    const ProgramResult result = run_program({"generate", folder / "r", "--prompt", prompt});
    EXPECT_EQ(result.exit_code, 2);
    return result.err;
  };
  EXPECT_THAT(refused("a \""), HasSubstr("text: character 3 (byte 2): '\"' (U+0022) is not among the "));
  EXPECT_THAT(refused("\uFEFFa"), HasSubstr("text: character 1 (byte 0): "));
  EXPECT_EQ(run_program({"generate", folder / "r", "--prompt", "\u201CI", "--max-new-tokens", "2"}).exit_code,
            0);
}

// Case 29: a character that the vocabulary lacks is named with its place; an option leaves it out or replaces
// it.
TEST(CliGenerate, UnknownCharactersAreRefusedSkippedOrReplaced) {
  const TemporaryFolder folder;
  const ProgramResult trained = run_program({"train", "tiny-gpt-abc", "--steps", "2", "--out", folder / "r",
                                             "--quiet", "--set", "data.text=abcdefgh "});
  ASSERT_EQ(trained.exit_code, 0) << trained.err;
  const auto generated = [&](std::vector<std::string> more) {
    more.insert(more.begin(),
                {"generate", folder / "r", "--prompt", "d\u00E9 \u00E9a", "--max-new-tokens", "1", "--json"});
    return run_program(more);
  };
  const ProgramResult refused = generated({});
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_EQ(
      refused.err,
      "tril: text: character 2 (byte 1): '\u00E9' (U+00E9) is not among the 9 characters of the vocabulary; "
      "--skip-unknown leaves it out, --replace-unknown TEXT replaces it\n");
  const ProgramResult skipped = generated({"--skip-unknown"});
  EXPECT_EQ(Json::parse(skipped.out)["prompt_tokens"].get<int>(), 3);
  EXPECT_EQ(Json::parse(skipped.out)["unknown"], Json::parse(R"(["\u00E9", "\u00E9"])"));
  EXPECT_THAT(skipped.err,
              HasSubstr("warning: 2 of the text's characters are not in the vocabulary and left out"));
  EXPECT_THAT(Json::parse(generated({"--replace-unknown", "bc"}).out)["text"].get<std::string>(),
              StartsWith("dbc bca"));
  EXPECT_THAT(generated({"--replace-unknown", "?"}).err,
              HasSubstr("not among the characters of the vocabulary itself"));
  EXPECT_EQ(generated({"--replace-unknown", "a", "--skip-unknown"}).exit_code, 2);
  const ProgramResult scored =
      run_program({"score", folder / "r", "--text", "abz", "--skip-unknown", "--json"});
  EXPECT_EQ(Json::parse(scored.out)["targets"].get<int>(), 1) << scored.err;
}

// The list and the names that tests/parity/microgpt_scalar.py drew from it.
TEST(CliTrain, MicrogptPrintsItsSamples) {
  const TemporaryFolder folder;
  const std::string parity = std::string(TRIL_SOURCE_DIR) + "/tests/parity/";
  const Json stored = Json::parse(read_all(parity + "microgpt.json"))["villages"];
  std::vector<std::string> words = {"train",   "microgpt",
                                    "--data",  parity + "villages.txt",
                                    "--out",   folder / "m",
                                    "--seed",  stored["seed"].dump(),
                                    "--steps", stored["steps"].dump()};
  const ProgramResult shown = run_program(words);
  ASSERT_EQ(shown.exit_code, 0) << shown.err;
  EXPECT_THAT(shown.out, StartsWith("sample  1: " + stored["samples"][0].get<std::string>() + "\n"));
  EXPECT_EQ(Json::parse(read_all(folder / "m/result.json"))["samples"], stored["samples"]);
}

TEST(CliCheck, HandWorked) {
  const ProgramResult result = run_program({"check", "hand-worked", "--json"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const Json json = Json::parse(result.out);
  EXPECT_TRUE(json["passed"].get<bool>());
  const Json& weights = json["values"]["weights"];
  const std::vector<double> to_three_places = {1,    0,    0,    0, .330, .670, 0,    0,
                                               .248, .248, .503, 0, .152, .216, .355, .277};
  ASSERT_EQ(weights["data"].size(), 16u);
  for (size_t i = 0; i < 16; ++i) EXPECT_NEAR(weights["data"][i].get<double>(), to_three_places[i], 5e-4);
  EXPECT_EQ(json["values"]["masked_scores"]["data"][1].get<std::string>(), "-Infinity");
  EXPECT_THAT(run_program({"check", "hand-worked"}).out, HasSubstr("0.330"));
  EXPECT_EQ(run_program({"check", "hand-work"}).err,
            "tril: there is no preset and no run 'hand-work'; the nearest is 'hand-worked'\n");
}

TEST_F(CliRun, CheckPassesOnARunOfItsOwn) {
  const ProgramResult result = run_program({"check", run(), "--json"});
  const Json json = Json::parse(result.out);
  EXPECT_EQ(result.exit_code, json["passed"].get<bool>() ? 0 : 1);
  for (const Json& row : json["checks"]) EXPECT_TRUE(row["passed"].get<bool>()) << row.dump();
}

TEST_F(CliRun, AFinishedRunIsNotTrainedAgain) {
  const ProgramResult again = run_program({"resume", run(), "--json"});
  EXPECT_EQ(again.exit_code, 0) << again.err;
  EXPECT_THAT(again.err, HasSubstr("finished"));
  EXPECT_EQ(Json::parse(again.out), result());
  const ProgramResult taken = run_program(small_run(run()));
  EXPECT_EQ(taken.exit_code, 2);
  EXPECT_THAT(taken.err, HasSubstr(run()));
  EXPECT_EQ(run_program({"resume", run(), "--seed", "3"}).err,
            "tril: --seed can't change in the middle of a run\n");
}

TEST(CliTrain, AnInterruptedRunGoesOnToTheSameBits) {
  const TemporaryFolder folder;
  const std::vector<std::string> more = {"--steps", "1500", "--set", "train.eval_every=500"};
  const auto words = [&](const std::string& out) {
    std::vector<std::string> all = small_run(folder / out);
    all.erase(std::find(all.begin(), all.end(), "--steps"), std::find(all.begin(), all.end(), "--steps") + 2);
    all.insert(all.end(), more.begin(), more.end());
    all.erase(std::find(all.begin(), all.end(), "train.eval_every=3") - 1,
              std::find(all.begin(), all.end(), "train.eval_every=3") + 1);
    return all;
  };
  ASSERT_EQ(run_program(words("whole")).exit_code, 0);
  Program program(words("broken"));
  while (!fs::exists(folder / "broken/last.json")) std::this_thread::sleep_for(std::chrono::milliseconds(2));
  program.kill(SIGINT);
  const ProgramResult stopped = program.wait();
  ASSERT_EQ(stopped.exit_code, 130) << stopped.err;
  EXPECT_THAT(stopped.err, HasSubstr("tril resume"));
  ASSERT_EQ(run_program({"resume", folder / "broken", "--quiet"}).exit_code, 0);
  const auto last = [&](const std::string& run) {
    return read_all(folder / (run + "/checkpoints/step-00001500/model.safetensors"));
  };
  EXPECT_FALSE(last("whole").empty());
  EXPECT_EQ(last("whole"), last("broken"));
}

TEST(CliTrain, DryRunWritesNothing) {
  const TemporaryFolder folder;
  const ProgramResult result = run_program({"train", "--dry-run", "--json"}, {.folder = folder.path()});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(Json::parse(result.out)["steps"].get<int>(), 300);
  EXPECT_TRUE(fs::is_empty(folder.path()));
}

TEST(CliTrain, WhatItTrains) {
  const TemporaryFolder folder;
  const ProgramOptions here{.folder = folder.path()};
  std::ofstream(folder / "my.txt")
      << "the cat sat on the mat and the dog sat on the log .\n\nthe dog saw the cat .\n";
  const ProgramResult text = run_program({"train", "my.txt", "--dry-run"}, here);
  EXPECT_EQ(text.exit_code, 0) << text.err;
  EXPECT_THAT(text.out, HasSubstr("my.txt"));
  std::ofstream(folder / "c.toml") << "preset = \"window-mlp\"\n[train]\nsteps = 7\n";
  EXPECT_EQ(
      Json::parse(run_program({"train", "c.toml", "--dry-run", "--json"}, here).out)["steps"].get<int>(), 7);
  EXPECT_EQ(run_program({"train", "x.json"}, here).err,
            "tril: x.json: only TOML is a configuration, not JSON\n");
  EXPECT_EQ(run_program({"train", "one-haed-smoke"}, here).err,
            "tril: there is no preset and no file 'one-haed-smoke'; the nearest is 'one-head-smoke'; tril "
            "presets lists them\n");
  EXPECT_EQ(run_program({"train", "--learning_rat", "1"}, here).err,
            "tril: unknown option '--learning_rat'; the nearest is '--set train.learning_rate=...'; see: "
            "tril help train\n");
  EXPECT_EQ(run_program({"train", "--dtype", "f64"}, here).err,
            "tril: --dtype f64: run.dtype f64 needs run.engine reference, not fast\n");
}

TEST(CliTrain, RefusalsLeaveNothingBehind) {
  const TemporaryFolder folder;
  const ProgramOptions here{.folder = folder.path()};
  std::ofstream(folder / "empty.txt") << "";
  EXPECT_EQ(run_program({"train", "--data", "empty.txt", "--out", "r"}, here).exit_code, 2);
  EXPECT_FALSE(fs::exists(folder / "r"));
  const ProgramResult huge = run_program(
      {"train", "--set", "model.d_model=65536", "--set", "model.hidden=1000000", "--out", "r"}, here);
  EXPECT_EQ(huge.exit_code, 2);
  EXPECT_THAT(huge.err, HasSubstr("and the machine has"));
  EXPECT_FALSE(fs::exists(folder / "r"));
  const ProgramResult diverged =
      run_program(small_run("d", {"--set", "train.learning_rate=1e9", "--set", "train.clip=0"}), here);
  EXPECT_EQ(diverged.exit_code, 3) << diverged.err;
}

}  // namespace
}  // namespace tril
