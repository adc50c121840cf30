// parallel: one training run by several ranks. Every rank has the whole model, draws the same batch and takes
// its share of it; gradients are summed (train/gradient_sum.h) and every rank makes the same update. Rank 0
// runs the loop, alone prints and writes, and tells the others before each step what comes
// (docs/parallel.md). What it leaves out: how ranks talk (train/ranks.h) and models that are larger than one
// machine.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "tril/data/corpus.h"
#include "tril/train/gradient_sum.h"
#include "tril/train/ranks.h"
#include "tril/train/settings.h"

namespace tril {

/// What rank 0 asks of all ranks next.
struct Order {
  enum Kind : int64_t { kStep, kEvaluate, kSchedule, kLeave };
  int64_t kind = kLeave;
  int64_t limit = 0;                            // kEvaluate
  int64_t steps = 0, warmup = 0, cooldown = 0;  // kSchedule
};

/// What all ranks must have in common before step 1.
struct JointStart {
  std::string program;    // version, vector level and oneDNN: bits depend on them
  std::string asked;      // settings of each rank's own command line, a line each; "": those of rank 0's file
  std::string config;     // as TOML: what is trained
  std::string tokenizer;  // tokenizer.json's text
  std::string source;     // SHA-256 of the text
};

class Parallel {
 public:
  /// Throws Refusal where the batch can't be shared out among the ranks, or the text comes by standard input.
  static void require_shareable(const Config& config, int ranks);

  explicit Parallel(std::unique_ptr<Ranks> ranks) : ranks_(std::move(ranks)) {}
  Ranks& ranks() { return *ranks_; }
  int rank() const { return ranks_->rank(); }
  int count() const { return ranks_->ranks(); }
  bool leads() const { return ranks_->leads(); }

  /// Rank 0: says what is trained, and hears whether all others have the same text, settings and program.
  /// Throws Refusal with the first rank that has not, or that failed, and why.
  void lead_start(const JointStart& start);
  /// Another rank: hears it. False where rank 0 ended before.
  bool hear_start(JointStart& start);
  /// Another rank: says what is wrong here, "" for nothing. False where a rank said no.
  bool answer_start(const std::string& fault);

  /// Rank 0: tells all ranks what comes. Until done() they depend on each other.
  void order(const Order& order);
  /// Another rank: hears it.
  Order next_order();
  void done() { together_ = false; }

  /// Rank 0: nothing more comes. Where the ranks wait for each other in what was begun, this process must end
  /// without a word, and the library then ends the others. `leave` false: all hear it, but this process does
  /// not wait for the launcher, which may be ending itself.
  void end(bool leave = true);

 private:
  std::unique_ptr<Ranks> ranks_;
  bool started_ = false, together_ = false;
};

/// Settings that all ranks must share, a line each: not the number of threads, nor where text, base model and
/// adapter lie, whose digests are compared.
std::string asked_text(const Config& config);
JointStart joint_start(const std::string& asked, const Config& config, const Corpus& corpus);
/// What of `here` is not as rank 0 has it, or "".
std::string start_fault(const JointStart& here, const JointStart& there);

/// What summing gradients took: result.json's `ranks`.
nlohmann::ordered_json ranks_json(Parallel& parallel, const SumTimes& times);

struct FollowOptions {
  std::function<Config()> asked;  // by this rank's own command line; none: the run is rank 0's
  std::function<void(const Config&, const Corpus&)> plan;  // may refuse the run
};

/// A rank that is not the first, from start to end. Prints nothing: rank 0 tells what is wrong here before
/// step 1. Throws what goes wrong later.
void follow(Parallel& parallel, const FollowOptions& options);

}  // namespace tril
