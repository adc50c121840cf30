#include "tril/train/ranks.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <algorithm>
#include <array>

#include "tril/base/error.h"
#include "tril/train/ranks_testing.h"

namespace tril {
namespace {

/// An environment variable, for as long as it lives.
class Variable {
 public:
  Variable(const char* name, const char* value) : name_(name) { ::setenv(name, value, 1); }
  ~Variable() { ::unsetenv(name_); }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;

 private:
  const char* name_;
};

TEST(Ranks, AProcessOfItsOwnJoinsNobody) {
  EXPECT_EQ(launched_ranks(), 1);
  EXPECT_EQ(join_ranks(), nullptr);
  const Variable one("OMPI_COMM_WORLD_SIZE", "1");
  EXPECT_EQ(join_ranks(), nullptr);
}

TEST(Ranks, OpenMpisAndMpichsLaunchersAreKnown) {
  for (const char* name : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE"}) {
    const Variable four(name, "4");
    EXPECT_EQ(launched_ranks(), 4) << name;
  }
  const Variable odd("PMI_SIZE", "many");
  EXPECT_EQ(launched_ranks(), 1);
}

TEST(Ranks, WithoutTheModuleALaunchIsRefusedInOneLine) {
  const Variable four("OMPI_COMM_WORLD_SIZE", "4");
  try {
    join_ranks({"/nowhere/tril_mpi.so"});
    FAIL() << "not refused";
  } catch (const Refusal& refused) {
    EXPECT_STREQ(refused.what(),
                 "mpirun started 4 ranks, and this tril has no MPI: install the packages libopenmpi-dev and "
                 "openmpi-bin and build again, or start tril without mpirun");
  }
}

TEST(Ranks, TextsGoFromTheFirstToAllAndFromAllToAll) {
  together(3, [](std::unique_ptr<Ranks> ranks) {
    std::string text = ranks->leads() ? "from the first" : "mine";
    ranks->broadcast_text(text);
    EXPECT_EQ(text, "from the first");
    const std::vector<std::string> all =
        ranks->gather_texts(std::string(static_cast<size_t>(ranks->rank()), 'x'));
    EXPECT_EQ(all, (std::vector<std::string>{"", "x", "xx"}));
    EXPECT_EQ(ranks->gather_texts(std::string(5000, 'y'))[1].size(), 1000U);
  });
}

// All ranks may use all processors, so each has its share of them, and one at least.
TEST(Ranks, ThreadsShareTheProcessors) {
  std::array<int, 64> many{};
  int alone = 0;
  together(1, [&](std::unique_ptr<Ranks> ranks) { alone = threads_of_rank(*ranks); });
  together(64, [&](std::unique_ptr<Ranks> ranks) {
    many[static_cast<size_t>(ranks->rank())] = threads_of_rank(*ranks);
  });
  EXPECT_GE(alone, 1);
  for (const int each : many) EXPECT_EQ(each, std::max(1, alone / 64));
}

}  // namespace
}  // namespace tril
