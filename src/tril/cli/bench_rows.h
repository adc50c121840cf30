// The rows of tril bench peers: for each piece of work how tril does a round of it, and who else does the
// same. What it leaves out: running the rounds and judging them (bench_peers.h).
#pragma once
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace tril::cli {

/// One round of some work, of tril's or of a peer.
struct Timed {
  double rate = 0;  // units of work a second
  double seconds = 0;
  std::optional<double> first_loss = {}, last_loss = {};
  std::string digest = {};  // of what was made, where that is to be the same
  std::string how = {};     // versions and settings
};
using Round = std::function<Timed()>;

/// One setting of a peer: a program by its words (bench/peers/peer.py tells what it prints), or a figure that
/// this program measures itself.
struct Way {
  std::string how;
  std::vector<std::string> words;
  Round here;
};

struct Contest {
  std::string against;
  double goal;
  std::vector<Way> ways;                         // the best of them counts
  std::string why_not;                           // it can't be held, and why; then there are no ways
  double first_limit = 1e-5, last_limit = 2e-2;  // on losses, where both sides tell them
};

struct BenchRow {
  std::string name, unit;
  std::function<Round()> prepare;  // makes everything ready that is not timed
  std::vector<Contest> contests;
  int rounds = 5;
};

struct PeerSettings {
  std::vector<std::string> only;  // names of rows; empty = all
  bool compile = true;            // try torch.compile
  std::string text;               // a text file for the tokenizer rows; empty = tales
  std::string shakespeare;        // tinyshakespeare.txt; empty = not at hand
  std::string python;             // "" where there is none
  /// NAME=PATH of programs that can't be installed by tril setup peers (program_names).
  std::vector<std::pair<std::string, std::string>> programs;

  /// "" where it was not given.
  std::string program(const std::string& name) const;
};

/// Names that --program takes.
const std::vector<std::string>& program_names();

/// Every row, in the order in which they are run.
std::vector<BenchRow> training_rows(const PeerSettings& settings);
std::vector<BenchRow> inference_rows(const PeerSettings& settings);
std::vector<BenchRow> text_rows(const PeerSettings& settings);
std::vector<BenchRow> loss_rows(const PeerSettings& settings);

/// A contest with a script of bench/peers, one way for each pair of how and further words.
Contest script_contest(const PeerSettings& settings, std::string against, double goal,
                       const std::string& script,
                       const std::vector<std::pair<std::string, std::vector<std::string>>>& ways);
/// A contest that can't be held.
Contest no_contest(std::string against, std::string why);
/// A contest with one of program_names(), by bench/peers/program.py.
Contest program_contest(const PeerSettings& settings, const std::string& name, double goal,
                        std::vector<std::string> more = {});
/// A file that goes with the program, by name.
std::string scratch_file(const std::string& name);

}  // namespace tril::cli
