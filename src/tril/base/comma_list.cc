#include "tril/base/comma_list.h"

#include <algorithm>

namespace tril {

std::vector<std::string> comma_list(std::string_view text) {
  std::vector<std::string> words;
  if (text.empty()) return words;
  for (size_t start = 0; start <= text.size();) {
    const size_t end = std::min(text.find(',', start), text.size());
    std::string_view word = text.substr(start, end - start);
    word.remove_prefix(std::min(word.find_first_not_of(' '), word.size()));
    word = word.substr(0, word.find_last_not_of(' ') + 1);
    words.emplace_back(word);
    start = end + 1;
  }
  return words;
}

}  // namespace tril
