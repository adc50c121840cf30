#include "tril/train/checkpoint.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <filesystem>
#include <type_traits>

#include "tril/train/run_folder_testing.h"

namespace tril {
namespace {
namespace fs = std::filesystem;
using testing::HasSubstr;

using CheckpointTest = RunFolderTest;

// The map that a SHA-256 is still taken of must outlive it.
static_assert(std::is_move_constructible_v<LoadedCheckpoint> && !std::is_move_assignable_v<LoadedCheckpoint>);

std::string newest(const std::string& root, const char* file) {
  return root + "/checkpoints/step-00000009/" + file;
}

// Case 24: cut, or one bit changed, anywhere in any of the three files: noticed, and the one before is used.
TEST_F(CheckpointTest, DamagedNewestCheckpointFallsBackWithAWarning) {
  train(at("good"));
  for (const char* file : {"model.safetensors", "optimizer.safetensors", "state.json"}) {
    const size_t size = read_file(newest(at("good"), file)).size();
    for (size_t place = 0; place < size; place += size / 11) {
      for (const bool cut : {false, true}) {
        fs::remove_all(at("run"));
        fs::copy(at("good"), at("run"), fs::copy_options::recursive);
        const std::string path = newest(at("run"), file);
        if (cut) {
          fs::resize_file(path, place);
        } else {
          flip(path, place);
        }
        testing::internal::CaptureStderr();
        {
          RunFolder run = RunFolder::open(at("run"));
          const std::optional<LoadedCheckpoint> from = run.restore();
          ASSERT_TRUE(from) << file << place;
          EXPECT_EQ(from->step(), 8);
          EXPECT_EQ(run.last(), 8);
          EXPECT_FALSE(folder_exists(at("run/checkpoints/step-00000009")));
          EXPECT_TRUE(folder_exists(at("run/checkpoints/step-00000009.damaged")));  // nothing is deleted
          EXPECT_TRUE(folder_exists(at("run/checkpoints/" + checkpoint_name(run.best().value()))));
        }
        const std::string said = testing::internal::GetCapturedStderr();
        EXPECT_THAT(said, HasSubstr(path)) << place;
        EXPECT_THAT(said, HasSubstr("warning: " + at("run") + ": going on from step 8")) << said;
        train(at("run"));
        EXPECT_EQ(content(at("run")).at("metrics.jsonl"), content(at("good")).at("metrics.jsonl"));
        EXPECT_EQ(read_file(path), read_file(newest(at("good"), file)));
      }
    }
  }
}

// What can't be judged may be whole: a later format, a file that can't be read, a state of another program.
TEST_F(CheckpointTest, ANewerCheckpointThatCannotBeJudgedIsRefusedAndStays) {
  const std::map<std::string, std::function<void(const std::string&)>> hindrances = {
      {"is of format 2",
       [](const std::string& path) { rewrite_state(path, [](auto& s) { s["format"] = 2; }); }},
      {"lacks an entry",
       [](const std::string& path) { rewrite_state(path, [](auto& s) { s.erase("step"); }); }},
      {"lacks an entry",
       [](const std::string& path) { rewrite_state(path, [](auto& s) {
                                       s["settings"] = {{"a", 1}};
                                     }); }},
      {"is a folder",
       [](const std::string& path) {
         fs::remove(path + "/state.json");
         fs::create_directory(path + "/state.json");
       }},
      {"is a folder", [](const std::string& path) {
         fs::remove(path + "/optimizer.safetensors");
         fs::create_directory(path + "/optimizer.safetensors");
       }}};
  for (const auto& [said, hinder] : hindrances) {
    fs::remove_all(at("run"));
    train(at("run"));
    hinder(at("run/checkpoints/step-00000009"));
    const auto before = content(at("run"));
    const std::string refusal = refusal_of([&] { RunFolder::open(at("run")).restore(); });
    EXPECT_THAT(refusal, HasSubstr(said));
    EXPECT_THAT(refusal,
                HasSubstr(at("run") + ": the checkpoint of step 9 may be whole, so nothing was changed"));
    EXPECT_EQ(content(at("run")), before) << said;
  }
}

TEST_F(CheckpointTest, AStateThatIsNoJsonUnderARightDigestIsRefusedInOneLine) {
  train(at("run"));
  const std::string path = newest(at("run"), "state.json");
  std::string text = "{\"digest\":\"" + std::string(64, '0') + "\",]\n";
  put(path, text.replace(11, 64, sha256_hex(text)));
  EXPECT_EQ(refusal_of([&] { LoadedCheckpoint(at("run/checkpoints/step-00000009")); }),
            path + ": is not JSON, though its digest is right: another program made it");
}

TEST_F(CheckpointTest, AFileThatIsGoneIsDamage) {
  for (const char* file : {"model.safetensors", "optimizer.safetensors", "state.json"}) {
    fs::remove_all(at("run"));
    train(at("run"));
    fs::remove(newest(at("run"), file));
    EXPECT_THROW(LoadedCheckpoint(at("run/checkpoints/step-00000009")), Damaged) << file;
    testing::internal::CaptureStderr();
    EXPECT_EQ(RunFolder::open(at("run")).restore()->step(), 8);
    EXPECT_THAT(testing::internal::GetCapturedStderr(), HasSubstr(file + std::string(": is missing")));
  }
}

// Case 24.
TEST_F(CheckpointTest, NeverBeginsAnewWhereAllCheckpointsAreDamaged) {
  train(at("run"));
  for (const int64_t step : RunFolder::view(at("run")).steps()) {
    fs::resize_file(fmt::format("{}/checkpoints/{}/state.json", at("run"), checkpoint_name(step)), 40);
  }
  EXPECT_THAT(refusal_of([&] { RunFolder::open(at("run")).restore(); }),
              HasSubstr("none of its checkpoints can be"));
  EXPECT_THAT(refusal_of([&] { RunFolder::view(at("run")).load_best(); }),
              HasSubstr("none of its checkpoints can be"));
  fs::remove_all(at("run/checkpoints"));
  EXPECT_THAT(refusal_of([&] { RunFolder::open(at("run")).restore(); }),
              HasSubstr("none of its checkpoints can be"));
}

TEST_F(CheckpointTest, DamagedBestFallsBackForUse) {
  train(at("run"));
  const RunFolder run = RunFolder::view(at("run"));
  EXPECT_EQ(run.load_best().step(), run.best());
  flip(fmt::format("{}/checkpoints/{}/model.safetensors", at("run"), checkpoint_name(run.best().value())),
       100);
  testing::internal::CaptureStderr();
  const LoadedCheckpoint used = run.load_best();
  EXPECT_NE(used.step(), run.best());
  EXPECT_THAT(testing::internal::GetCapturedStderr(), HasSubstr("instead of the best one"));
}

// A large file's SHA-256 may be taken while its weights are in use already; a changed one is told all the
// same.
TEST_F(CheckpointTest, ALargeFileIsVerifiedWhileItIsInUse) {
  using Parts = LoadedCheckpoint::Parts;
  const std::vector<float> weights(LoadedCheckpoint::kLarge / sizeof(float));
  const Tensor tensor{{static_cast<int64_t>(weights.size())}, DType::f32, const_cast<float*>(weights.data())};
  save_checkpoint(
      at("large"),
      {.step = 1, .best_step = 1, .tokenizer = "t", .model = {stored("w", tensor)}, .optimizer = {}});
  LoadedCheckpoint(at("large"), Parts::kModelLater).finish_verifying();
  const std::string path = at("large/model.safetensors");
  flip(path, LoadedCheckpoint::kLarge / 2);
  const std::string wrong =
      path + ": its SHA-256 is not the one in state.json: it was changed after it was written";
  EXPECT_EQ(refusal_of([&] { LoadedCheckpoint(at("large"), Parts::kModel); }), wrong);
  const LoadedCheckpoint later(at("large"), Parts::kModelLater);
  EXPECT_EQ(later.model().tensors().size(), 1u);
  EXPECT_THROW(later.finish_verifying(), Damaged);
  EXPECT_EQ(refusal_of([&] { later.finish_verifying(); }), wrong);
  EXPECT_EQ(refusal_of([&] { later.use([] { refuse("the model gives a logit of nan"); }); }), wrong);
  flip(path, 20);  // in the header, which then can't be parsed
  for (int i = 0; i < 3; ++i)
    EXPECT_EQ(refusal_of([&] { LoadedCheckpoint(at("large"), Parts::kModelLater); }), wrong);
  fs::resize_file(path, LoadedCheckpoint::kLarge);  // its size is looked at first, as ever
  EXPECT_THROW(LoadedCheckpoint(at("large"), Parts::kModelLater), Damaged);
}

TEST_F(CheckpointTest, ForeignCheckpointsAreRefusedWithBothValues) {
  train(at("run"));
  const LoadedCheckpoint loaded = RunFolder::view(at("run")).load(9);
  loaded.require_tokenizer(std::string(64, 'a'), "t.json");
  EXPECT_EQ(
      refusal_of([&] { loaded.require_tokenizer("bb", "t.json"); }),
      fmt::format("{}/checkpoints/step-00000009: was trained with another tokenizer: its fingerprint is {}, "
                  "t.json has bb",
                  at("run"), std::string(64, 'a')));
  const std::vector<TensorSpec> same = {{"weights", StoredType::kF32, {2, 3}}};
  require_tensors(loaded.model(), same);
  const std::vector<TensorSpec> other = {{"weights", StoredType::kF32, {3, 2}}};
  EXPECT_THAT(refusal_of([&] { require_tensors(loaded.model(), other); }),
              HasSubstr("tensor 'weights' is F32 [2, 3], the configuration needs F32 [3, 2]"));
  const std::vector<TensorSpec> renamed = {{"head", StoredType::kF32, {2, 3}},
                                           {"tail", StoredType::kF32, {1}}};
  EXPECT_THAT(refusal_of([&] { require_tensors(loaded.model(), renamed); }),
              HasSubstr("missing: 'head' 'tail'; unexpected: 'weights'"));
  EXPECT_THAT(refusal_of([&] { RunFolder::view(at("run")).load(5); }),
              HasSubstr("has no checkpoint of step 5; there"));
}

TEST(CheckpointName, GoesBothWays) {
  EXPECT_EQ(checkpoint_name(300), "step-00000300");
  EXPECT_EQ(checkpoint_name(1234567890), "step-1234567890");
  EXPECT_EQ(checkpoint_step("step-00000300"), 300);
  EXPECT_EQ(checkpoint_step("step-1234567890"), 1234567890);
  for (const char* bad :
       {"step-300", "step-", "step-0000030x", "step-00000300.tril-tmp-1-2", "x", "step--0000001"}) {
    EXPECT_EQ(checkpoint_step(bad), std::nullopt) << bad;
  }
}

// Its digest is right, so nothing but its depth says that no program wrote it.
TEST_F(CheckpointTest, AStateNestedTooDeepIsRefused) {
  train(at("run"));
  const std::string path = newest(at("run"), "state.json"), head = "{\"digest\":\"";
  std::string text = head + std::string(64, '0') + "\",\"training\":" + std::string(300000, '[') +
                     std::string(300000, ']') + "}\n";
  put(path, text.replace(head.size(), 64, sha256_hex(text)));
  EXPECT_EQ(refusal_of([&] { LoadedCheckpoint(at("run/checkpoints/step-00000009")); }),
            path + ": is nested more than 200 levels deep");
}

}  // namespace
}  // namespace tril
