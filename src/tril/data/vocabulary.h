// The words of a text and how often each occurs, and which of them get ids.
// It leaves out cutting text into words (text/words.h) and the ids of specials (text/word_tokenizer.h).
#pragma once
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

namespace tril {

/// Numbers distinct words in the order in which they come. Words are stored once. A table with open
/// addressing, since every word of a text goes through it: a slot holds the number and half of the hash, so
/// that few words are compared.
class WordTable {
 public:
  int32_t number_of(std::string_view word);
  size_t size() const { return words_.size(); }
  const std::string& word(size_t number) const { return words_[number]; }

 private:
  struct Slot {
    uint32_t tag;
    int32_t number;  // -1: empty
  };
  void grow();

  std::deque<std::string> words_;
  std::vector<Slot> slots_;  // a power of two, at most half of them taken
};

struct VocabularyChoice {
  std::vector<std::string> words;  // by falling count, equal ones by their bytes
  int64_t candidates = 0;          // how many words reach min_count, before the cap
};

/// The words that occur at least min_count times, by (−count, word), at most `cap` of them (0: no cap).
/// `counts` stands beside table's numbers.
VocabularyChoice choose_vocabulary(const WordTable& table, const std::vector<int64_t>& counts,
                                   int64_t min_count, int64_t cap);

}  // namespace tril
