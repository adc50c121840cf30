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

}  // namespace
}  // namespace tril
