// Other programs that a command runs: scripts of the sources, and Python. What it leaves out: input to them.
#pragma once
#include <span>
#include <string>

namespace tril::cli {

struct ChildResult {
  int exit_code = 0;
  std::string out;  // standard output; standard error goes to ours, or nowhere where quiet
};

/// Runs a program by its words and waits. Throws Refusal where nothing can be started.
ChildResult run_child(std::span<const std::string> words, bool quiet = false);

/// The last line of a text, without its end.
std::string last_line(std::string text);

/// The folder of the sources that this program was built from.
std::string source_folder();

}  // namespace tril::cli
