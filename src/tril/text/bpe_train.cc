// The counts are kept incrementally: a merge changes only the words that hold its pair, and each change says
// which pairs lost and gained. Pairs wait in a heap whose entries are brought up to date when they come to
// the top.
#include "tril/text/bpe_train.h"

#include <algorithm>
#include <array>
#include <deque>
#include <limits>
#include <queue>
#include <unordered_map>
#include <utility>

#include "tril/base/error.h"
#include "tril/text/byte_level.h"
#include "tril/text/pre_tokenizer_json.h"

namespace tril {

/// Distinct pieces with their counts, in the order of their first appearance.
struct BpeTrainer::Counts {
  struct Word {
    std::string_view bytes;
    int64_t count;
  };
  std::deque<std::string> blocks;  // hold the bytes of the words
  std::vector<Word> words;
  std::vector<uint32_t> slots = std::vector<uint32_t>(1 << 12);  // index + 1 into words, 0 for empty
  int64_t total = 0;

  void add(std::string_view piece) {
    const size_t mask = slots.size() - 1;
    size_t at = hash_piece(piece) & mask;
    for (; slots[at]; at = (at + 1) & mask) {
      Word& word = words[slots[at] - 1];
      if (word.bytes == piece) {
        ++word.count;
        return;
      }
    }
    words.push_back({keep(piece), 1});
    slots[at] = static_cast<uint32_t>(words.size());
    if (2 * words.size() > slots.size()) grow();
  }

  std::string_view keep(std::string_view piece) {
    constexpr size_t kBlock = 1 << 16;
    if (blocks.empty() || blocks.back().capacity() - blocks.back().size() < piece.size()) {
      blocks.emplace_back().reserve(std::max(kBlock, piece.size()));
    }
    std::string& block = blocks.back();
    block += piece;  // never beyond its capacity, so that earlier views stay good
    return std::string_view(block).substr(block.size() - piece.size());
  }

  void grow() {
    slots.assign(2 * slots.size(), 0);
    for (uint32_t i = 0; i < words.size(); ++i) {
      size_t at = hash_piece(words[i].bytes) & (slots.size() - 1);
      while (slots[at]) at = (at + 1) & (slots.size() - 1);
      slots[at] = i + 1;
    }
  }
};

namespace {

/// Which words hold a pair may be asked with the count that was right when the entry was made.
struct Entry {
  int64_t count;
  int32_t left, right;
  uint32_t pair;   // index of the pair
  uint32_t words;  // index of the list of words
};

/// The heap's order: highest count first, then the pair of lowest ids.
struct Later {
  bool operator()(const Entry& a, const Entry& b) const {
    if (a.count != b.count) return a.count < b.count;
    if (a.left != b.left) return a.left > b.left;
    return a.right > b.right;
  }
};

/// Each pair that was ever seen, with an index.
class Pairs {
 public:
  struct Pair {
    int32_t left, right;
    int64_t count = 0;
    std::vector<uint32_t> words;  // where the pair has come up since its last heap entry
  };

  uint32_t index(int32_t left, int32_t right) {
    size_t at = slot(left, right);
    if (slots_[at]) return slots_[at] - 1;
    pairs_.push_back({left, right, 0, {}});
    slots_[at] = static_cast<uint32_t>(pairs_.size());
    if (2 * pairs_.size() > slots_.size()) grow();
    return static_cast<uint32_t>(pairs_.size()) - 1;
  }
  Pair& operator[](uint32_t index) { return pairs_[index]; }
  size_t size() const { return pairs_.size(); }

 private:
  size_t slot(int32_t left, int32_t right) const {
    const uint64_t key = static_cast<uint64_t>(left) << 32 | static_cast<uint32_t>(right);
    size_t at = static_cast<size_t>((key ^ key >> 29) * 0x9E3779B97F4A7C15ull >> 32) & (slots_.size() - 1);
    while (slots_[at] && (pairs_[slots_[at] - 1].left != left || pairs_[slots_[at] - 1].right != right)) {
      at = (at + 1) & (slots_.size() - 1);
    }
    return at;
  }
  void grow() {
    slots_.assign(2 * slots_.size(), 0);
    for (uint32_t i = 0; i < pairs_.size(); ++i) slots_[slot(pairs_[i].left, pairs_[i].right)] = i + 1;
  }

  std::vector<Pair> pairs_;
  std::vector<uint32_t> slots_ = std::vector<uint32_t>(1 << 16);
};

class Training {
 public:
  template <class Words>
  Training(const Words& words, BpeDefinition& definition) : definition_(definition) {
    std::array<int32_t, 256> id_of_byte;
    for (int32_t id = 0; id < 256; ++id) {
      const char byte = static_cast<char>(byte_alphabet()[id]);
      id_of_byte[byte_alphabet()[id]] = id;
      definition_.tokens.push_back(to_byte_level({&byte, 1}));
      ids_.emplace(definition_.tokens.back(), id);
    }
    for (const auto& word : words) {
      words_.push_back({symbols_.size(), word.bytes.size(), word.count});
      for (const char byte : word.bytes) symbols_.push_back(id_of_byte[static_cast<uint8_t>(byte)]);
    }
    for (uint32_t w = 0; w < words_.size(); ++w) {
      const int32_t* symbols = &symbols_[words_[w].start];
      for (size_t i = 0; i + 1 < words_[w].size; ++i) change(symbols[i], symbols[i + 1], words_[w].count, w);
    }
    push_changed();
  }

  void run(int64_t size, int64_t min_count, const std::function<void(int64_t, int64_t)>& progress) {
    const int64_t start = static_cast<int64_t>(definition_.tokens.size());
    while (static_cast<int64_t>(definition_.tokens.size()) < size && !heap_.empty()) {
      Entry top = heap_.top();
      heap_.pop();
      const int64_t count = pairs_[top.pair].count;
      if (top.count != count) {
        top.count = count;
        heap_.push(top);
        continue;
      }
      if (count < std::max<int64_t>(1, min_count)) return;
      merge(top);
      if (progress && definition_.merges.size() % 256 == 0) {
        progress(static_cast<int64_t>(definition_.tokens.size()) - start, size - start);
      }
    }
  }

 private:
  struct Word {
    size_t start, size;  // in symbols_
    int64_t count;
  };

  void change(int32_t left, int32_t right, int64_t by, uint32_t word) {
    const uint32_t index = pairs_.index(left, right);
    Pairs::Pair& pair = pairs_[index];
    pair.count += by;
    if (by < 0) return;
    if (pair.words.empty()) changed_.push_back(index);
    if (pair.words.empty() || pair.words.back() != word) pair.words.push_back(word);
  }

  /// A pair that came up somewhere gets a new entry that knows only the new places; the older entry knows the
  /// rest.
  void push_changed() {
    for (const uint32_t index : changed_) {
      Pairs::Pair& pair = pairs_[index];
      if (pair.count > 0) {
        heap_.push({pair.count, pair.left, pair.right, index, static_cast<uint32_t>(places_.size())});
        places_.push_back(std::move(pair.words));
      }
      pair.words = {};
    }
    changed_.clear();
  }

  void merge(const Entry& entry) {
    const std::string token = definition_.tokens[entry.left] + definition_.tokens[entry.right];
    // The same token may already exist, made of other parts.
    const auto [known, fresh] = ids_.emplace(token, static_cast<int32_t>(definition_.tokens.size()));
    const int32_t merged = known->second;
    if (fresh) definition_.tokens.push_back(token);
    const auto rank = static_cast<uint32_t>(definition_.merges.size());
    definition_.merges.push_back({entry.left, entry.right, merged, rank});
    const std::vector<uint32_t> places = std::move(places_[entry.words]);
    for (const uint32_t w : places) merge_in(w, entry.left, entry.right, merged);
    push_changed();
  }

  void merge_in(uint32_t w, int32_t left, int32_t right, int32_t merged) {
    Word& word = words_[w];
    int32_t* symbols = &symbols_[word.start];
    size_t to = 0;
    for (size_t from = 0; from < word.size;) {
      if (symbols[from] != left || from + 1 == word.size || symbols[from + 1] != right) {
        symbols[to++] = symbols[from++];
        continue;
      }
      from += 2;
      if (to > 0) {
        change(symbols[to - 1], left, -word.count, w);
        change(symbols[to - 1], merged, word.count, w);
      }
      symbols[to++] = merged;
      if (from < word.size) {
        change(right, symbols[from], -word.count, w);
        change(merged, symbols[from], word.count, w);
      }
    }
    word.size = to;
  }

  BpeDefinition& definition_;
  std::unordered_map<std::string, int32_t> ids_;
  std::vector<int32_t> symbols_;
  std::vector<Word> words_;
  Pairs pairs_;
  std::vector<uint32_t> changed_;
  std::vector<std::vector<uint32_t>> places_;
  std::priority_queue<Entry, std::vector<Entry>, Later> heap_;
};

}  // namespace

BpeTrainer::BpeTrainer(BpeTrainSettings settings)
    : settings_(std::move(settings)), counts_(std::make_unique<Counts>()) {
  const int64_t least = 256 + !settings_.end_token.empty();
  if (settings_.vocab_size < least) {
    refuse("a vocabulary of {} ids is too small: the 256 bytes{} need {}", settings_.vocab_size,
           settings_.end_token.empty() ? "" : " and the end token", least);
  }
  if (settings_.vocab_size > std::numeric_limits<int32_t>::max()) {
    refuse("a vocabulary of {} ids is above 2147483647, the largest id", settings_.vocab_size);
  }
}

BpeTrainer::~BpeTrainer() = default;

void BpeTrainer::add(std::string_view text) {
  counts_->total += static_cast<int64_t>(text.size());
  const PreTokenizer pieces({settings_.pattern});
  pieces.split(text, 0, true, [&](std::string_view piece) { counts_->add(piece); });
}

int64_t BpeTrainer::bytes() const {
  return counts_->total;
}
int64_t BpeTrainer::pieces() const {
  return static_cast<int64_t>(counts_->words.size());
}

BpeDefinition BpeTrainer::train() {
  if (counts_->words.empty()) refuse("no text to train a tokenizer on");
  BpeDefinition definition;
  definition.pre_tokenizer = PreTokenizer({settings_.pattern});
  definition.pre_tokenizer_json = pre_tokenizer_json(settings_.pattern);
  definition.decoder_json = definition.post_processor_json = byte_level_json();
  const bool ends = !settings_.end_token.empty();
  Training(counts_->words, definition)
      .run(settings_.vocab_size - ends, settings_.min_count, settings_.progress);
  *counts_ = {};
  if (ends) {
    AddedToken end;
    end.id = static_cast<int32_t>(definition.tokens.size());
    end.content = settings_.end_token;
    definition.added.push_back(end);
    definition.tokens.push_back(end.content);
    definition.eos = end.id;
  }
  return definition;
}

std::string merge_lines(const BpeDefinition& definition) {
  std::string lines;
  for (const auto& merge : definition.merges) {
    lines += definition.tokens[merge.left] + " " + definition.tokens[merge.right] + "\n";
  }
  return lines;
}

}  // namespace tril
