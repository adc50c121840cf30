#include "tril/data/vocabulary.h"

#include <algorithm>

namespace tril {

int32_t WordTable::number_of(std::string_view word) {
  const auto found = numbers_.find(word);
  if (found != numbers_.end()) return found->second;
  const auto number = static_cast<int32_t>(words_.size());
  numbers_.emplace(words_.emplace_back(word), number);
  return number;
}

VocabularyChoice choose_vocabulary(const WordTable& table, const std::vector<int64_t>& counts,
                                   int64_t min_count, int64_t cap) {
  std::vector<size_t> chosen;
  for (size_t number = 0; number < counts.size(); ++number) {
    if (counts[number] >= min_count) chosen.push_back(number);
  }
  VocabularyChoice choice;
  choice.candidates = static_cast<int64_t>(chosen.size());
  std::sort(chosen.begin(), chosen.end(), [&](size_t a, size_t b) {
    return counts[a] != counts[b] ? counts[a] > counts[b] : table.word(a) < table.word(b);
  });
  if (cap > 0 && choice.candidates > cap) chosen.resize(static_cast<size_t>(cap));
  for (const size_t number : chosen) choice.words.push_back(table.word(number));
  return choice;
}

}  // namespace tril
