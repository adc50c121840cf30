// The program: its words go to the frame.
#include <string>
#include <vector>

#include "tril/cli/frame.h"

int main(int count, char** words) {
  const std::vector<std::string> arguments(words + (count > 0 ? 1 : 0), words + count);
  return tril::cli::run(arguments);
}
