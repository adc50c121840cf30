#include "tril/base/typed.h"

#include <algorithm>
#include <cstdlib>

namespace tril {
namespace {

template <class Words>
std::string line_of(const Words& words) {
  std::string line = program_as_typed();
  for (const auto& word : words) line += ' ' + shell_word(word);
  return line;
}

}  // namespace

std::string program_as_typed() {
  const char* name = std::getenv("TRIL_COMMAND");
  return name == nullptr || *name == '\0' ? "tril" : shell_word(name);
}

std::string shell_word(std::string_view word) {
  const bool plain = !word.empty() && std::all_of(word.begin(), word.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view("/._-=+").find(c) != std::string_view::npos;
  });
  if (plain) return std::string(word);
  std::string quoted = "'";
  for (const char c : word) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

std::string typed(std::initializer_list<std::string_view> words) {
  return line_of(words);
}
std::string typed(const std::vector<std::string>& words) {
  return line_of(words);
}

}  // namespace tril
