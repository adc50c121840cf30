// A run's settings against its checkpoints': nothing that was edited, cut or taken from another run is used.
#include "tril/train/run_settings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <regex>
#include <sstream>

#include "tril/train/loaded_run.h"
#include "tril/train/run_folder_testing.h"
#include "tril/train/train_testing.h"

namespace tril {
namespace {
namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::StartsWith;

const std::vector<std::string> kTiny = {"train.steps=2", "data.stories=12", "train.eval_every=1"};

void make(const std::string& path, std::vector<std::string> more = {}) {
  more.insert(more.begin(), kTiny.begin(), kTiny.end());
  RunFolder folder = RunFolder::create(path);
  train_run(folder, small_run(more));
}

std::string resume_refusal(const std::string& path, std::optional<int64_t> steps = std::nullopt) {
  return refusal_of([&] {
    RunFolder folder = RunFolder::open(path);
    resume_run(folder, steps, {});
  });
}
std::string load_refusal(const std::string& path) {
  return refusal_of([&] { load_run(path); });
}

void edit_config(const std::string& run, const std::string& from, const std::string& to) {
  const std::string path = run + "/config.toml", text = read_file(path);
  const std::string changed = std::regex_replace(text, std::regex("\n" + from + " = [^\n#]*"), "\n" + to);
  ASSERT_NE(changed, text);
  put(path, changed);
}

class RunSettings : public RunFolderTest {
 protected:
  void SetUp() override { make(run_); }
  const std::string run_ = at("run");
  const std::string config_ = run_ + "/config.toml";
};

TEST_F(RunSettings, EveryLineThatIsCutIsNoticed) {
  const std::string whole = read_file(config_);
  std::istringstream lines(whole);
  std::string line, before;
  int tried = 0, missing = 0;
  while (std::getline(lines, line)) {
    if (line.find(" = ") != std::string::npos && !line.starts_with("preset") && !line.starts_with("#")) {
      std::string cut = whole;
      put(config_, cut.erase(cut.find("\n" + line + "\n"), line.size() + 1));
      const std::string refusal = load_refusal(run_);
      EXPECT_THAT(refusal, StartsWith(config_ + ": ")) << line;
      missing +=
          refusal.find(" is missing, it was ") != std::string::npos ? 1 : 0;  // else: it fits no other line
      EXPECT_NE(resume_refusal(run_), "") << line;
      ++tried;
    }
  }
  EXPECT_EQ(tried, static_cast<int>(config_keys().size()));
  EXPECT_GT(missing, tried - 5);
  put(config_, whole.substr(0, whole.size() / 2));  // cut as a disk or a hand would
  EXPECT_NE(load_refusal(run_), "");
  put(config_, "");
  EXPECT_THAT(load_refusal(run_), HasSubstr(" more; put the file back as it was"));
  put(config_, whole);
  EXPECT_EQ(load_refusal(run_), "");
}

TEST_F(RunSettings, AnEditedValueIsToldWithBoth) {
  edit_config(run_, "learning_rate", "learning_rate = 0.5");
  const std::string said = fmt::format(
      "{}: is not what {}/checkpoints/step-00000002 was trained with: train.learning_rate is 0.5, it was "
      "0.003; "
      "put the file back as it was, or use the run that the checkpoint belongs to",
      config_, run_);
  const auto before = content(run_);
  EXPECT_EQ(resume_refusal(run_), said);
  EXPECT_EQ(resume_refusal(run_, 5), said);
  EXPECT_EQ(content(run_), before);
}

TEST_F(RunSettings, WhatChangesNoBitMayBeEdited) {
  edit_config(run_, "threads", "threads = 1");
  edit_config(run_, "keep_checkpoints", "keep_checkpoints = 5");
  const std::string text = read_file(config_);
  put(config_, "# a remark\n" + text);
  EXPECT_EQ(load_refusal(run_), "");
  edit_config(run_, "steps", "steps = 4");
  testing::internal::CaptureStderr();
  EXPECT_EQ(resume_refusal(run_), "");
  EXPECT_THAT(testing::internal::GetCapturedStderr(), HasSubstr("step-00000002: 4 steps in place of 2\n"));
  EXPECT_EQ(RunFolder::view(run_).last(), 4);
  EXPECT_EQ(load_refusal(run_), "");  // whose best checkpoint may be one of the first two steps
}

TEST_F(RunSettings, TheNumberOfThreadsOfOneCallIsNotKept) {
  {
    RunFolder folder = RunFolder::open(run_);
    tril::RunSettings one;
    one.threads = 1;
    resume_run(folder, 3, one);
  }
  EXPECT_THAT(read_file(config_), HasSubstr("\nthreads = 0 "));
  EXPECT_THAT(read_file(config_), HasSubstr("\nsteps = 3 "));
}

TEST_F(RunSettings, ACheckpointOfAnotherRunIsRefusedThoughItsShapesFit) {
  make(at("other"), {"train.seed=12", "train.clip=0.5"});
  for (const int64_t step : RunFolder::view(run_).steps()) {
    const std::string name = "/checkpoints/" + checkpoint_name(step);
    fs::remove_all(run_ + name);
    fs::copy(at("other") + name, run_ + name, fs::copy_options::recursive);
  }
  for (const std::string& refusal : {load_refusal(run_), resume_refusal(run_)}) {
    EXPECT_THAT(refusal, HasSubstr("train.clip is 1.0, it was 0.5, train.seed is 11, it was 12;")) << refusal;
  }
}

// The same settings and the same characters, another text: its SHA-256 tells.
TEST_F(RunSettings, ACheckpointOfAnotherTextIsRefused) {
  const auto make_chars = [&](const char* name, const char* text) {
    ConfigBuilder builder;
    builder.add_preset("tiny-gpt-abc");
    builder.set("data.text=" + std::string(text));
    builder.set("train.steps=2");
    RunFolder folder = RunFolder::create(at(name));
    train_run(folder, builder.finish());
  };
  make_chars("abc", "abcabcabc");
  make_chars("cba", "cbacbacba");
  fs::remove_all(at("abc/checkpoints"));
  fs::copy(at("cba/checkpoints"), at("abc/checkpoints"), fs::copy_options::recursive);
  EXPECT_THAT(load_refusal(at("abc")), HasSubstr("data.json: names a text of SHA-256 "));
  EXPECT_THAT(resume_refusal(at("abc"), 4), HasSubstr("data.json: names a text of SHA-256 "));
  fs::remove(at("abc/data.json"));
  EXPECT_THAT(resume_refusal(at("abc"), 4), HasSubstr(": was trained on a text of SHA-256 "));
  EXPECT_FALSE(file_exists(at("abc/data.json")));
}

TEST_F(RunSettings, OfAnOlderVersionSaysSo) {
  for (const int64_t step : RunFolder::view(run_).steps())
    rewrite_state(run_ + "/checkpoints/" + checkpoint_name(step), [](auto& state) {
      for (const char* key : {"settings", "source", "metrics"}) state.erase(key);
    });
  testing::internal::CaptureStderr();
  EXPECT_EQ(load_refusal(run_), "");
  EXPECT_THAT(testing::internal::GetCapturedStderr(),
              HasSubstr("an older version of tril made it and kept no settings with it"));
  edit_config(run_, "clip", "#");
  EXPECT_THAT(load_refusal(run_),
              StartsWith(config_ + ": lacks train.clip; a run's file holds every setting"));
  // Sizes that the file does not hold are refused before any memory is asked for.
  put(config_, config_to_toml(small_run({"train.steps=2", "data.stories=12", "model.d_model=65536",
                                         "model.hidden=65536", "model.context=65536"})));
  testing::internal::CaptureStderr();
  EXPECT_THAT(load_refusal(run_), HasSubstr(": holds 4,"));
  testing::internal::GetCapturedStderr();
}

// A setting that a later version added: neither the run nor its checkpoints hold it.
TEST_F(RunSettings, OneThatNeitherHoldsHasItsDefault) {
  for (const int64_t step : RunFolder::view(run_).steps())
    rewrite_state(run_ + "/checkpoints/" + checkpoint_name(step),
                  [](auto& state) { state["settings"].erase("model.softcap"); });
  EXPECT_EQ(load_refusal(run_), "");  // as it is in the file, at its default
  edit_config(run_, "softcap", "#");
  EXPECT_EQ(load_refusal(run_), "");
}

TEST_F(RunSettings, WithoutACheckpointTheFileMustBeWhole) {
  fs::remove_all(run_ + "/checkpoints");
  fs::remove(run_ + "/last.json");
  edit_config(run_, "clip", "#");
  EXPECT_EQ(resume_refusal(run_),
            config_ +
                ": lacks train.clip; a run's file holds every setting, so it was cut or "
                "edited, or another version of tril made it; put back what is missing, or "
                "train a new run");
}

TEST(SettingsText, HoldsEverySettingAndLongTextsByTheirHash) {
  Config config;
  EXPECT_EQ(settings_text(config).size(), config_keys().size());
  EXPECT_EQ(settings_text(config).at("train.learning_rate"), "0.003");
  EXPECT_EQ(settings_text(config).at("data.split"), "\"hash\"");
  config.data.text = std::string(1000, 'x');
  EXPECT_EQ(settings_text(config).at("data.text"), "sha256:" + sha256_hex("\"" + config.data.text + "\""));
}

}  // namespace
}  // namespace tril
