#include "tril/base/log.h"

#include <gtest/gtest.h>

namespace tril {
namespace {

TEST(Log, QuietDropsNotesAndKeepsWarnings) {
  testing::internal::CaptureStderr();
  log::set_quiet(true);
  log::note("a note {}", 1);
  log::warn("a warning {}", 2);
  log::set_quiet(false);
  log::note("another {}", 3);
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "warning: a warning 2\nanother 3\n");
}

TEST(Log, LinesPrintAboveTheLiveLine) {
  testing::internal::CaptureStderr();
  log::live_line("");  // nothing stands: nothing to erase
  log::live_line("step 1");
  log::note("saved");
  log::live_line("step 2");
  log::live_line("");
  log::note("done");
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "\r\x1b[Kstep 1\r\x1b[Ksaved\nstep 1\r\x1b[Kstep 2\r\x1b[Kdone\n");
}

}  // namespace
}  // namespace tril
