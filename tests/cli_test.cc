// The command line from outside: exit codes, refusals, pipes, locales, and the pages made from it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "program.h"

namespace tril {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

void expect_refused(const std::vector<std::string>& words, const std::string& error) {
  const ProgramResult result = run_program(words);
  EXPECT_EQ(result.exit_code, 2) << result.err;
  EXPECT_EQ(result.out, "");
  EXPECT_EQ(result.err, error + "\n");
}

TEST(Cli, WithoutWordsItShowsTheCommands) {
  const ProgramResult result = run_program({});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_THAT(result.out, HasSubstr("usage: tril COMMAND"));
  EXPECT_EQ(result.err, "");
  EXPECT_EQ(run_program({"help"}).out, result.out);
  EXPECT_EQ(run_program({"--help"}).out, result.out);
}

TEST(Cli, HelpOfACommand) {
  const ProgramResult result = run_program({"help", "config"});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_THAT(result.out, StartsWith("usage: tril config PRESET [options]\n"));
  EXPECT_EQ(run_program({"config", "--help"}).out, result.out);
  EXPECT_EQ(run_program({"config", "-h"}).out, result.out);
}

TEST(Cli, UnknownNamesAreRefusedWithTheNearest) {
  expect_refused({"presests"}, "tril: unknown command 'presests'; the nearest is 'presets'; see: tril help");
  expect_refused({"presets", "--jsn"},
                 "tril: unknown option '--jsn'; the nearest is '--json'; see: tril help presets");
  expect_refused({"presets", "--jsn=3"},
                 "tril: unknown option '--jsn'; the nearest is '--json'; see: tril help presets");
  expect_refused({"config", "one-head-smok"},
                 "tril: there is no preset 'one-head-smok'; the nearest is 'one-head-smoke'");
  expect_refused({"help", "presest"},
                 "tril: unknown command 'presest'; the nearest is 'presets'; see: tril help");
  expect_refused({"config", "microgpt", "--engine", "fsat"},
                 "tril: --engine must be reference|fast, is 'fsat'; the nearest is 'fast'");
}

// Case 42, and its kin: a setting typed as an option, half a name, the second word of a command alone.
TEST(Cli, TheNearestNameIsOfTheRightKind) {
  expect_refused(
      {"train", "--learning_rat", "1"},
      "tril: unknown option '--learning_rat'; the nearest is '--set train.learning_rate=...'; see: tril "
      "help train");
  expect_refused(
      {"train", "--weight-decay=1"},
      "tril: unknown option '--weight-decay'; the nearest is '--set train.weight_decay=...'; see: tril "
      "help train");
  expect_refused(
      {"train", "--model.head", "2"},
      "tril: unknown option '--model.head'; the nearest is '--set model.heads=...'; see: tril help train");
  expect_refused({"train", "--step", "1"},
                 "tril: unknown option '--step'; the nearest is '--steps'; see: tril help train");
  expect_refused({"generate", "r", "--prompt", "a", "--temp", "1"},
                 "tril: unknown option '--temp'; the nearest is '--temperature'; see: tril help generate");
  expect_refused({"tokenise"},
                 "tril: unknown command 'tokenise'; the nearest is 'data tokenize'; see: tril help");
  expect_refused({"data", "audti"},
                 "tril: unknown command 'data audti'; the nearest is 'data audit'; see: tril help data");
  expect_refused({"train", "shakespear"},
                 "tril: there is no preset and no file 'shakespear'; the nearest is 'shakespeare-char'; tril "
                 "presets lists them");
  expect_refused(
      {"train", "names"},
      "tril: there is no preset and no file 'names'; the nearest is 'names-char'; tril presets lists them");
}

TEST(Cli, ASettingGivenTwiceIsRefusedWithBothPlaces) {
  expect_refused({"train", "microgpt", "--dry-run", "--set", "train.steps=7", "--steps", "3"},
                 "tril: --steps 3: train.steps is set already, by --set train.steps=7; give it once");
  expect_refused({"train", "microgpt", "--dry-run", "--set", "train.seed=7", "--set=train.seed=7"},
                 "tril: --set train.seed=7: train.seed is set already, by --set train.seed=7; give it once");
  EXPECT_EQ(run_program({"config", "microgpt", "--set", "run.dtype=f64"}).exit_code, 0);
}

TEST(Cli, ConfigDropsWhatNoLongerCounts) {
  const TemporaryFolder folder;
  const ProgramResult printed =
      run_program({"config", "shakespeare-char", "--set", "train.schedule=constant"});
  EXPECT_THAT(printed.out, HasSubstr("\nmin_learning_rate = 0.0 "));
  std::ofstream(folder / "c.toml") << printed.out;
  EXPECT_EQ(run_program({"show", folder / "c.toml"}).exit_code, 0);
}

TEST(Cli, UsageFaults) {
  expect_refused({"presets", "again"}, "tril: unexpected word 'again'; usage: tril presets");
  expect_refused({"presets", "-5"}, "tril: unknown option '-5'; see: tril help presets");
  expect_refused({"config"}, "tril: PRESET is missing; usage: tril config PRESET [options]");
  expect_refused({"presets", "--seed"}, "tril: --seed needs a value: --seed N");
  expect_refused({"presets", "--seed", "1", "--seed=2"}, "tril: --seed is given 2 times");
  expect_refused({"presets", "--json=1"}, "tril: --json takes no value");
  expect_refused({"--json", "presets"},
                 "tril: '--json' stands before the command; options follow it: tril COMMAND --json ...");
}

TEST(Cli, AnEmptyPathOrNameIsRefusedBeforeItsUse) {
  for (const char* command :
       {"eval", "generate", "score", "trace", "check", "resume", "show", "train", "config"}) {
    const ProgramResult result = run_program({command, ""});
    EXPECT_EQ(result.exit_code, 2) << command;
    EXPECT_THAT(result.err, HasSubstr(" is empty; usage: tril " + std::string(command)));
  }
  expect_refused({"data", "tokenize", ""}, "tril: PATH is empty; usage: tril data tokenize PATH [options]");
  expect_refused({"data", "tokenize", "a", "--tokenizer="},
                 "tril: --tokenizer FILE|RUN is empty; usage: tril data tokenize PATH [options]");
  expect_refused({"config", "microgpt", "--set", ""},
                 "tril: --set section.key=value is empty; usage: tril config PRESET [options]");
  expect_refused({"config", "microgpt", "--set", "="}, "tril: --set =: '' is no setting");
}

TEST(Cli, NumbersAreDecimalFiniteAndInRange) {
  for (const char* text : {"nan", "1.5", "1e3", "0x10", "", " 1", "9223372036854775808", "one"})
    expect_refused({"presets", "--seed", text},
                   std::string("tril: --seed must be an integer, is '") + text + "'");
  expect_refused({"presets", "--seed", "-1"}, "tril: --seed must be 0 to 4,294,967,295, is -1");
  expect_refused({"presets", "--threads=0"}, "tril: --threads must be 1 to 1,024, is 0");
}

TEST(Cli, PresetsAsTableAndJson) {
  EXPECT_THAT(run_program({"presets"}).out, HasSubstr("331,132"));
  const auto json = nlohmann::json::parse(run_program({"presets", "--json"}).out);
  EXPECT_EQ(json["presets"].size(), 15u);
  EXPECT_EQ(json["presets"][0]["name"], "one-head-smoke");
  EXPECT_EQ(json["presets"][0]["parameters"], 331132);
}

TEST(Cli, ConfigPrintsWhatItReads) {
  const ProgramResult result = run_program(
      {"config", "one-head-smoke", "--set", "model.d_model=64", "--seed", "5", "--set=train.clip=2"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("\nd_model = 64 "));
  EXPECT_THAT(result.out, HasSubstr("\nd_k = 0 "));  // follows d_model where the file is edited
  EXPECT_THAT(result.out, HasSubstr("\nclip = 2.0 "));
  EXPECT_THAT(result.out, HasSubstr("\nseed = 5 "));
  const auto json = nlohmann::json::parse(run_program({"config", "microgpt", "--json"}).out);
  EXPECT_EQ(json["train"]["beta1"], 0.85);
  expect_refused({"config", "microgpt", "--set", "train.setps=1", "--set", "model.heads=0"},
                 "tril: --set train.setps=1: train.setps is no setting; the nearest is 'train.steps'\n"
                 "tril: --set model.heads=0: model.heads must be 1 to 4,096, is 0");
}

TEST(Cli, RouteLightsStages) {
  const ProgramResult result =
      run_program({"route", "training", "--at", "weights,loss"}, {.environment = {"LC_ALL=C"}});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_THAT(result.out, HasSubstr("[weights]"));
  EXPECT_THAT(result.out, HasSubstr("[loss]"));
  EXPECT_THAT(result.out, HasSubstr("text -> tokens"));
  for (const char c : result.out) EXPECT_LT(static_cast<unsigned char>(c), 0x80);
  EXPECT_THAT(run_program({"route"}, {.environment = {"LC_ALL=C.UTF-8"}}).out, HasSubstr("text → tokens"));
  expect_refused({"route", "inference", "--at", "wieghts"},
                 "tril: 'wieghts' is no stage of the inference route; the nearest is 'weights'");
  expect_refused({"route", "trainin"}, "tril: there is no route 'trainin'; there are training and inference");
}

TEST(Cli, VersionNamesLibraries) {
  const ProgramResult result = run_program({"--version"});
  EXPECT_EQ(result.exit_code, 0);
  for (const char* name : {"tril ", "oneDNN", "Highway", "vector level", "threads"})
    EXPECT_THAT(result.out, HasSubstr(name));
  const auto json = nlohmann::json::parse(run_program({"--version", "--threads", "3", "--json"}).out);
  EXPECT_EQ(json["threads"], 3);
}

TEST(Cli, ShowTellsWhatAFileHolds) {
  const TemporaryFolder folder;
  std::ofstream(folder / "c.toml") << run_program({"config", "microgpt"}).out;
  const ProgramResult result = run_program({"show", folder / "c.toml", "--json"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(nlohmann::json::parse(result.out)["kind"].get<std::string>(), "config");
  EXPECT_THAT(run_program({"show", folder / "c.toml"}).out, HasSubstr("config"));
  const ProgramResult none = run_program({"show", folder / "none"});
  EXPECT_EQ(none.exit_code, 2);
  EXPECT_THAT(none.err, HasSubstr(folder / "none"));
}

TEST(Cli, BenchSkipsPeersThatAreNotAtHand) {
  const ProgramResult result =
      run_program({"bench", "peers", "--row", "tiny-gpt-abc", "--json"}, {.environment = {"TRIL_PYTHON="}});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const auto json = nlohmann::json::parse(result.out);
  EXPECT_TRUE(json["rows"].empty());
  ASSERT_EQ(json["skipped"].size(), 2u);  // PyTorch and JAX
  EXPECT_EQ(json["skipped"][0]["name"].get<std::string>(), "tiny-gpt-abc");
  EXPECT_GT(json["skipped"][0]["tril"].get<double>(), 0);
  expect_refused({"bench", "peers", "--row", "none"},
                 "tril: there is no row 'none'; tril bench peers without --row measures all");
  expect_refused(
      {"bench", "peers", "--row", "one-head-smok"},
      "tril: there is no row 'one-head-smok'; the nearest is 'one-head-smoke'; tril bench peers without "
      "--row measures all");
  expect_refused({"bench", "peers", "--program", "llm=/bin/true"},
                 "tril: --program: there is no 'llm'; the nearest is 'llm.c'");
  expect_refused({"bench", "peers", "--program", "llm.c=/none"},
                 "tril: --program llm.c: '/none' is not there");
}

// A peer of two lines of shell, which answers every request with the same line.
nlohmann::json bench_against(const std::string& answer) {
  const TemporaryFolder folder;
  const std::string peer = folder / "peer.sh";
  std::ofstream(peer) << "#!/bin/sh\nwhile read -r line; do echo '" << answer << "'; done\n";
  std::filesystem::permissions(peer, std::filesystem::perms::owner_all);
  const ProgramResult result =
      run_program({"bench", "peers", "--row", "tiny-gpt-abc", "--no-compile", "--threads", "1", "--json"},
                  {.environment = {"TRIL_PYTHON=" + peer}});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  return nlohmann::json::parse(result.out);
}

TEST(Cli, BenchAsksAPeerRoundByRound) {
  const auto same =
      bench_against(R"({"rate": 0.5, "seconds": 1, "first_loss": 1.313596, "last_loss": 0.01})");
  ASSERT_EQ(same["rows"].size(), 2u);  // PyTorch and JAX
  for (const auto& row : same["rows"]) {
    EXPECT_EQ(row["peer"], 0.5);
    EXPECT_EQ(row["ratio"], row["tril"].get<double>() / 0.5);
    EXPECT_EQ(row["tried"][0]["rounds"], 5);
    EXPECT_EQ(row["met"], true);
  }
  for (const std::string losses :
       {R"("first_loss": 1.32, "last_loss": 0)", R"("first_loss": 1.313596, "last_loss": 0.1)"}) {
    const auto other = bench_against(R"({"rate": 0.5, "seconds": 1, )" + losses + "}");
    EXPECT_EQ(other["rows"][0]["same_work"], false) << losses;
    EXPECT_EQ(other["rows"][0]["met"], false);
  }
  const auto once = bench_against(R"({"rate": 0.5, "seconds": 21})");
  EXPECT_EQ(once["rows"][0]["tried"][0]["rounds"], 1);
  const auto broken = bench_against("no JSON");
  EXPECT_TRUE(broken["rows"].empty());
  EXPECT_EQ(broken["skipped"][0]["why"], "eager, 1 thread: it gave no result: no JSON");
}

// Case 54: what the key/value cache brings is a row like any other, and needs no peer.
TEST(Cli, BenchTellsWhatTheCacheBrings) {
  const ProgramResult result =
      run_program({"bench", "peers", "--row", "cache-16", "--json"}, {.environment = {"TRIL_PYTHON="}});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const auto json = nlohmann::json::parse(result.out);
  ASSERT_EQ(json["rows"].size(), 1u) << result.out;
  const auto& row = json["rows"][0];
  EXPECT_EQ(row["against"].get<std::string>(), "itself without the cache");
  EXPECT_GT(row["peer"].get<double>(), 0);
  EXPECT_EQ(row["ratio"].get<double>(), row["tril"].get<double>() / row["peer"].get<double>());
}

TEST(Cli, SetupKnowsPeersAlone) {
  expect_refused({"setup", "friends"},
                 "tril: there is nothing to set up by the name 'friends'; there is: peers");
  expect_refused({"setup"}, "tril: peers is missing; usage: tril setup peers");
}

TEST(Cli, NoColourCodesInAPipe) {
  for (const auto& words :
       std::vector<std::vector<std::string>>{{"route", "--at", "loss"}, {"presets"}, {"nonsense"}}) {
    const ProgramResult result = run_program(words, {.environment = {"TERM=xterm-256color"}});
    EXPECT_EQ((result.out + result.err).find('\x1b'), std::string::npos);
  }
}

TEST(Cli, AClosedPipeEndsItQuietly) {
  Program program({"config", "gpt2-124m"});
  program.close_output();
  const ProgramResult result = program.wait();
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(result.signal, 0);
  EXPECT_EQ(result.err, "");
}

TEST(Cli, AFullDiskIsToldOnce) {
  const ProgramResult result = run_program({"presets"}, {.output_file = "/dev/full"});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_EQ(result.err, "tril: standard output: No space left on device\n");
}

TEST(CliData, TalesDependOnTheSeedAlone) {
  const ProgramResult three = run_program({"data", "tales", "--count", "3", "--seed", "4"});
  EXPECT_EQ(three.exit_code, 0) << three.err;
  const std::string two = run_program({"data", "tales", "--count", "2", "--seed", "4"}).out;
  EXPECT_THAT(three.out, StartsWith(two.substr(0, two.size() - 1)));
  EXPECT_NE(run_program({"data", "tales", "--count", "2", "--seed", "5"}).out, two);
  const auto json =
      nlohmann::json::parse(run_program({"data", "tales", "--count", "2", "--seed", "4", "--json"}).out);
  const auto& tales = json["tales"];
  EXPECT_EQ(tales[0].get<std::string>() + "\n<|endoftext|>\n" + tales[1].get<std::string>() + "\n", two);
}

TEST(CliData, TokenizeShowsWordsOrIds) {
  const ProgramResult words = run_program({"data", "tokenize", "-"}, {.input = "Don't stop,\nNow 12!"});
  EXPECT_EQ(words.exit_code, 0) << words.err;
  EXPECT_EQ(words.out, "don't stop , now 12 !\n");
  EXPECT_THAT(words.err, HasSubstr("6 tokens"));
  EXPECT_EQ(run_program({"data", "tokenize", "-", "--quiet"}, {.input = "a"}).err, "");
  const auto json =
      nlohmann::json::parse(run_program({"data", "tokenize", "-", "--json"}, {.input = "Don't stop"}).out);
  EXPECT_EQ(json["tokens"], nlohmann::json::parse(R"(["don't", "stop"])"));
}

TEST(CliData, AuditOfTalesAndOfABrokenFile) {
  const ProgramResult result = run_program({"data", "audit", "tales", "--set", "data.stories=50", "--json"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  const auto json = nlohmann::json::parse(result.out);
  EXPECT_EQ(json["overlap"], 0);
  EXPECT_EQ(json["documents"]["train"].get<int>() + json["documents"]["validation"].get<int>() +
                json["documents"]["test"].get<int>() + json["duplicates"].get<int>(),
            50);
  EXPECT_EQ(json["settings"]["stories"], 50);
  EXPECT_THAT(run_program({"data", "audit", "tales", "--set", "data.stories=50"}).out,
              HasSubstr("validation"));

  const TemporaryFolder folder;
  std::ofstream(folder / "empty.txt") << "";
  const ProgramResult empty = run_program({"data", "audit", folder / "empty.txt"});
  EXPECT_EQ(empty.exit_code, 2);
  EXPECT_THAT(empty.err, HasSubstr("empty.txt"));
  expect_refused({"data", "audit", folder / "none.txt"},
                 "tril: " + (folder / "none.txt") + ": can't be read: No such file or directory");
  expect_refused(
      {"data", "audit", "tales", "--set", "data.tokeniser=char"},
      "tril: --set data.tokeniser=char: data.tokeniser is no setting; the nearest is 'data.tokenizer'");
}

TEST(CliData, TheFamilyHasItsHelp) {
  EXPECT_THAT(run_program({"help", "data"}).out, HasSubstr("tril data tales [options]"));
  expect_refused({"data", "tale"},
                 "tril: unknown command 'data tale'; the nearest is 'data tales'; see: tril help data");
  expect_refused({"data"}, "tril: data needs a second word; see: tril help data");
  expect_refused(
      {"data", "fetch", "tinystorys"},
      "tril: data fetch: 'tinystorys' is not known; the nearest is 'tinystories'; there are: tinystories, "
      "tinyshakespeare");
}

// Every command's numbers and words are the same in any locale.
TEST(Cli, OutputDoesNotDependOnTheLocale) {
  for (const auto& words :
       std::vector<std::vector<std::string>>{{"presets"}, {"config", "microgpt"}, {"presets", "--json"}}) {
    const std::string plain = run_program(words, {.environment = {"LC_ALL=C"}}).out;
    EXPECT_EQ(run_program(words, {.environment = {"LC_ALL=de_DE.UTF-8"}}).out, plain);
    EXPECT_FALSE(plain.empty());
  }
}

}  // namespace
}  // namespace tril
