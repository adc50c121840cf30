#include "tril/base/progress.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "tril/base/log.h"

namespace tril {
namespace {

/// A clock that the test sets.
ProgressOptions at(double* seconds, bool live) {
  ProgressOptions options;
  options.live = live;
  options.width = 80;
  options.now = [seconds] { return *seconds; };
  options.watched = false;
  return options;
}

TEST(Progress, PlainLinesComeEveryFiveSecondsAndAtTheEnd) {
  testing::internal::CaptureStderr();
  double now = 100;
  Progress progress("train", 3000, at(&now, false));
  for (int step = 1; step <= 100; ++step) {
    now += 0.125;
    progress.update(step, "loss 3.210", step * 256.0, "targets");
  }
  progress.finish();
  progress.finish();
  // Eight steps a second: at step 40, 2,960 steps are left, 370 s = 6:10; 256 targets × 8 = 2,048 a second.
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "train 40/3,000, 1%, loss 3.210, 2.0k targets/s, 6:10 left\n"
            "train 80/3,000, 2%, loss 3.210, 2.0k targets/s, 6:05 left\n"
            "train 100/3,000, 3%, loss 3.210, 2.0k targets/s, 6:03 left\n");
}

TEST(Progress, ShortWorkPrintsNoPlainLine) {
  testing::internal::CaptureStderr();
  double now = 0;
  {
    Progress progress("train", 10, at(&now, false));
    for (int step = 1; step <= 10; ++step) progress.update(step);
  }
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

TEST(Progress, TheLiveLineIsDrawnTenTimesASecondAndErased) {
  testing::internal::CaptureStderr();
  double now = 0;
  Progress progress("eval", 4, at(&now, true));
  progress.update(1);
  now = 0.05;
  progress.update(2);  // too soon
  now = 1;
  progress.update(3);
  progress.finish();
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "\r\x1b[Keval 1/4, 25%\r\x1b[Keval 3/4, 75%, 1 s left\r\x1b[K");
}

TEST(Progress, ALiveLineNeverWraps) {
  testing::internal::CaptureStderr();
  double now = 0;
  ProgressOptions options = at(&now, true);
  options.width = 12;
  Progress progress("é train", 1000, options);
  progress.update(999);
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "\r\x1b[Ké train 999");
  testing::internal::CaptureStderr();
  progress.finish();
  testing::internal::GetCapturedStderr();
}

// Case 20: a step of 40 seconds, an evaluation, a first step: a sign of life comes every five seconds, with
// what is at work, the rate and the time left.
TEST(Progress, LongSilenceIsTold) {
  testing::internal::CaptureStderr();
  double now = 0;
  Progress progress("train", 1000, at(&now, false));
  const auto wait = [&](int seconds) {
    for (int i = 0; i < seconds; ++i) {
      now += 1;
      progress.tell_silence();
    }
  };
  wait(11);
  now = 20;
  progress.update(1, "loss 3.2", 256, "targets");
  wait(7);
  progress.phase("evaluation");
  wait(3);
  now = 40;
  progress.update(2, "loss 3.1", 512, "targets");
  progress.finish();
  wait(20);
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "train 0/1,000, 0%; step 1 for 5 s\n"
            "train 0/1,000, 0%; step 1 for 10 s\n"
            "train 1/1,000, 0%, loss 3.2, 13 targets/s, 5:33:00 left\n"
            "train 1/1,000, 0%, loss 3.2, 13 targets/s, 5:33:00 left; step 2 for 5 s\n"
            "train 1/1,000, 0%, loss 3.2, 13 targets/s, 5:33:00 left; evaluation for 10 s\n"
            "train 2/1,000, 0%, loss 3.1, 13 targets/s, 5:32:40 left\n");
}

TEST(Progress, WorkThatGoesOnIsNotSilent) {
  testing::internal::CaptureStderr();
  double now = 0;
  Progress progress("train", 20, at(&now, false));
  for (int step = 1; step <= 8; ++step) {
    now += 2;
    progress.update(step);
    now += 1;
    progress.tell_silence();
  }
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "train 2/20, 10%, 45 s left\n"
            "train 4/20, 20%, 44 s left\n"
            "train 6/20, 30%, 42 s left\n"
            "train 8/20, 40%, 36 s left\n");
}

// The watching thread does the same by itself, and ends with the work.
TEST(Progress, TheWatchTellsByItself) {
  testing::internal::CaptureStderr();
  ProgressOptions options;
  options.live = false;
  std::atomic<int> looks = 0;
  options.now = [&looks] { return 10.0 * looks++; };  // ten seconds pass between two looks
  Progress progress("train", 10, options);
  while (looks < 4) std::this_thread::sleep_for(std::chrono::milliseconds(5));
  progress.finish();
  EXPECT_NE(testing::internal::GetCapturedStderr().find("train 0/10, 0%; step 1 for "), std::string::npos);
}

TEST(Progress, QuietShowsNothing) {
  testing::internal::CaptureStderr();
  log::set_quiet(true);
  double now = 0;
  {
    Progress progress("train", 10, at(&now, true));
    now = 60;
    progress.update(5);
  }
  log::set_quiet(false);
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

TEST(Progress, AResumedRunCountsNoTimeForWhatWasDone) {
  testing::internal::CaptureStderr();
  double now = 0;
  ProgressOptions options = at(&now, false);
  options.start = 900;
  Progress progress("train", 1000, options);
  now = 10;
  progress.update(950);  // 50 steps in 10 s, 50 left
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "train 950/1,000, 95%, 10 s left\n");
}

TEST(Progress, TheRateForgetsASlowStart) {
  testing::internal::CaptureStderr();
  double now = 0;
  Progress progress("train", 2000, at(&now, false));
  now = 100;
  progress.update(1);  // the first step took 100 s
  testing::internal::GetCapturedStderr();
  testing::internal::CaptureStderr();
  for (int second = 1; second <= 100; ++second) {
    now += 1;
    progress.update(1 + 10 * second);
  }
  const std::string text = testing::internal::GetCapturedStderr();
  EXPECT_NE(text.find("train 1,001/2,000, 50%, 1:40 left\n"), std::string::npos)
      << text;  // 999 steps at 10 a second
}

TEST(Progress, BytesAndUnknownTotals) {
  testing::internal::CaptureStderr();
  double now = 0;
  ProgressOptions options = at(&now, false);
  options.bytes = true;
  Progress known("fetch", 21500000, options), unknown("fetch", 0, options);
  now = 5;
  known.update(3200000);
  unknown.update(3200000);
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "fetch 3.2 MB of 21.5 MB, 14%, 640 kB/s, 29 s left\n"
            "fetch 3.2 MB, 640 kB/s\n");
}

TEST(Progress, ShortForms) {
  EXPECT_EQ(short_count(0), "0");
  EXPECT_EQ(short_count(999.4), "999");
  EXPECT_EQ(short_count(999.5), "1.0k");
  EXPECT_EQ(short_count(99949), "99.9k");
  EXPECT_EQ(short_count(99950), "100k");
  EXPECT_EQ(short_count(999500), "1.0M");
  EXPECT_EQ(short_count(2.5e9), "2.5G");
  EXPECT_EQ(short_bytes(512), "512 B");
  EXPECT_EQ(short_bytes(22502601), "22.5 MB");
  EXPECT_EQ(short_time(0.2), "1 s");
  EXPECT_EQ(short_time(59.5), "1:00");
  EXPECT_EQ(short_time(3723), "1:02:03");
  EXPECT_EQ(short_time(1e300), "100000:00:00");
}

}  // namespace
}  // namespace tril
