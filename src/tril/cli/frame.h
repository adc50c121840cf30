// The program's frame: finds the command, parses, runs it, and is the one place where errors are printed.
#pragma once
#include <span>
#include <string>

namespace tril::cli {

/// Runs the program on the words after its name; returns the exit code. Never throws.
int run(std::span<const std::string> arguments);

}  // namespace tril::cli
