#include "tril/data/vocabulary.h"

#include <algorithm>
#include <functional>

namespace tril {

int32_t WordTable::number_of(std::string_view word) {
  if (2 * words_.size() >= slots_.size()) grow();
  const uint64_t hash = std::hash<std::string_view>{}(word);
  const auto tag = static_cast<uint32_t>(hash >> 32);
  const size_t mask = slots_.size() - 1;
  for (size_t at = hash & mask;; at = (at + 1) & mask) {
    Slot& slot = slots_[at];
    if (slot.number < 0) {
      slot = {tag, static_cast<int32_t>(words_.size())};
      words_.emplace_back(word);
      return slot.number;
    }
    if (slot.tag == tag && words_[static_cast<size_t>(slot.number)] == word) return slot.number;
  }
}

void WordTable::grow() {
  slots_.assign(std::max<size_t>(1024, 2 * slots_.size()), Slot{0, -1});
  const size_t mask = slots_.size() - 1;
  for (size_t number = 0; number < words_.size(); ++number) {
    const uint64_t hash = std::hash<std::string_view>{}(words_[number]);
    size_t at = hash & mask;
    while (slots_[at].number >= 0) at = (at + 1) & mask;
    slots_[at] = {static_cast<uint32_t>(hash >> 32), static_cast<int32_t>(number)};
  }
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
