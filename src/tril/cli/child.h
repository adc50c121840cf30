// Other programs that a command runs: scripts of the sources, and Python. What it leaves out: input to them
// beyond a line that says "go on".
#pragma once
#include <cstdio>
#include <optional>
#include <span>
#include <string>

namespace tril::cli {

struct ChildResult {
  int exit_code = 0;
  std::string out;  // standard output; standard error goes to ours, or nowhere where quiet
};

/// Runs a program by its words and waits. Throws Refusal where nothing can be started.
ChildResult run_child(std::span<const std::string> words, bool quiet = false);

/// A program that stays, and answers each request with one line on its standard output.
class Partner {
 public:
  /// Throws Refusal where nothing can be started.
  explicit Partner(std::span<const std::string> words);
  ~Partner();  // ends the program
  Partner(const Partner&) = delete;
  Partner& operator=(const Partner&) = delete;

  /// Its next line, without the end; nullopt where it ended instead.
  std::optional<std::string> ask();
  /// The last line of its standard error.
  std::string complaint() const;

 private:
  std::FILE* errors_ = nullptr;
  std::string read_;  // behind the lines that were given
  int channel_ = -1;  // its standard input and output
  int process_ = -1;
};

/// The last line of a text, without its end.
std::string last_line(std::string text);

/// The folder of the sources that this program was built from.
std::string source_folder();

}  // namespace tril::cli
