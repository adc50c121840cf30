// Words in windows: one reading of the text, in which each word becomes its number in a table of distinct
// words; then the vocabulary, then ids. It leaves out streams (stream_corpus.cc) and what both share
// (corpus.cc).
#include <algorithm>
#include <numeric>

#include "tril/base/error.h"
#include "tril/base/progress.h"
#include "tril/base/table.h"
#include "tril/data/corpus_parts.h"
#include "tril/data/vocabulary.h"
#include "tril/text/normalize.h"
#include "tril/text/unicode.h"
#include "tril/text/utf8.h"
#include "tril/text/word_tokenizer.h"
#include "tril/text/words.h"

namespace tril {
namespace {

/// Text is read once: each word becomes its number in a table of distinct words, and once the vocabulary is
/// known the numbers become ids.
class WordCorpus {
 public:
  explicit WordCorpus(CorpusWork& work) : work_(work), by_hash_(work.settings.split != "none") {}

  void build() {
    read_documents();
    if (documents_.empty()) {
      refuse("{}: no trainable text: {}", work_.source.name(),
             work_.source.bytes == 0 ? "it is empty" : "it holds no word");
    }
    place_documents();
    std::vector<int64_t> counts = count_words(Part::kTrain);
    choose_tokenizer(counts);
    fill_parts();
    work_.corpus.audit.distinct_words = static_cast<int64_t>(table_.size());
    warn_of_scripts_without_spaces();
  }

 private:
  struct Document {
    uint64_t id;
    Part part;
    size_t begin, end;  // its words in numbers_
    int64_t text_bytes;
  };

  void read_documents();
  void place_documents();
  std::vector<int64_t> count_words(Part part) const;
  void choose_tokenizer(const std::vector<int64_t>& counts);
  void fill_parts();
  void warn_of_scripts_without_spaces() const;

  CorpusWork& work_;
  const bool by_hash_;
  WordTable table_;
  std::vector<int32_t> numbers_;
  std::vector<Document> documents_;
};

void WordCorpus::read_documents() {
  Audit& audit = work_.corpus.audit;
  Duplicates duplicates;
  std::string normal;
  int64_t underscores = 0, bytes_done = 0;
  ProgressOptions in_bytes;
  in_bytes.bytes = true;
  Progress progress("read", work_.source.bytes, in_bytes);
  numbers_.reserve(static_cast<size_t>(work_.source.bytes) / 4);  // English has a token for 4.3 bytes
  for (const std::string_view text : work_.documents.texts) {
    normalize_into(text, normal);
    const Digest digest = sha256(normal);
    if (by_hash_ && work_.settings.dedupe && duplicates.seen(digest)) {
      ++audit.duplicates;
    } else {
      const size_t begin = numbers_.size();
      WordScanner scanner(normal);
      for (std::string_view word; scanner.next(word);) numbers_.push_back(table_.number_of(word));
      underscores += scanner.dropped();
      const Part part = by_hash_ ? part_of(normal) : Part::kTrain;
      if (numbers_.size() > begin) {
        documents_.push_back(
            {document_id(digest), part, begin, numbers_.size(), static_cast<int64_t>(normal.size())});
      } else {
        ++audit.empty_documents;
      }
    }
    bytes_done += static_cast<int64_t>(text.size());
    progress.update(bytes_done);
  }
  if (underscores > 0) audit.uncovered["_"] = underscores;
}

/// Puts the documents in their order: by id within a part where the split is by hash, else as they came.
void WordCorpus::place_documents() {
  if (!by_hash_) return;
  place_by_hash(documents_, work_);
}

std::vector<int64_t> WordCorpus::count_words(Part part) const {
  std::vector<int64_t> counts(table_.size(), 0);
  for (const Document& document : documents_) {
    if (document.part != part) continue;
    for (size_t i = document.begin; i < document.end; ++i) ++counts[static_cast<size_t>(numbers_[i])];
  }
  return counts;
}

void WordCorpus::choose_tokenizer(const std::vector<int64_t>& counts) {
  if (work_.corpus.tokenizer != nullptr) return;
  const int64_t cap = work_.settings.vocabulary;
  if (cap > 0 && cap <= WordTokenizer::kSpecials) {
    refuse("data.vocabulary: {} leaves no room for a word beside the {} specials", cap,
           +WordTokenizer::kSpecials);
  }
  const int64_t word_cap = cap > 0 ? cap - WordTokenizer::kSpecials : 0;
  int64_t min_count = work_.settings.min_count;
  VocabularyChoice choice = choose_vocabulary(table_, counts, min_count, word_cap);
  if (choice.words.empty()) {
    work_.warn(fmt::format("{}: no training word occurs {} times, so data.min_count is 1",
                           work_.source.name(), min_count));
    min_count = 1;
    choice = choose_vocabulary(table_, counts, min_count, word_cap);
  }
  const auto size = static_cast<int64_t>(choice.words.size()) + WordTokenizer::kSpecials;
  if (size < cap) {
    work_.note(fmt::format("the vocabulary has {}, not {}: the training text has no more words{}",
                           counted(size, "id"), with_commas(cap),
                           min_count > 1 ? fmt::format(" that occur {} times or more", min_count) : ""));
  }
  work_.corpus.tokenizer = std::make_shared<WordTokenizer>(choice.words);
}

void WordCorpus::fill_parts() {
  const auto& tokenizer = dynamic_cast<const WordTokenizer&>(*work_.corpus.tokenizer);
  std::vector<int32_t> ids(table_.size());
  for (size_t number = 0; number < ids.size(); ++number) ids[number] = tokenizer.id_of(table_.word(number));
  std::array<size_t, kParts> sizes{};
  for (const Document& document : documents_) {
    sizes[static_cast<size_t>(document.part)] += document.end - document.begin + 2;
  }
  auto& parts = work_.corpus.parts;
  for (size_t p = 0; p < kParts; ++p) parts[p].ids.reserve(sizes[p]);
  for (const Document& document : documents_) {
    Tokens& part = parts[static_cast<size_t>(document.part)];
    part.ids.push_back(WordTokenizer::kBos);
    for (size_t i = document.begin; i < document.end; ++i) {
      part.ids.push_back(ids[static_cast<size_t>(numbers_[i])]);
    }
    part.ids.push_back(WordTokenizer::kEos);
    part.end_document();
    part.document_ids.push_back(document.id);
    part.text_bytes += document.text_bytes;
    part.content += static_cast<int64_t>(document.end - document.begin);
    work_.lengths.push_back(static_cast<int64_t>(document.end - document.begin));
  }
}

void WordCorpus::warn_of_scripts_without_spaces() const {
  int64_t unspaced = 0;
  for (const int32_t number : numbers_) {
    const std::string& word = table_.word(static_cast<size_t>(number));
    unspaced += static_cast<unsigned char>(word[0]) >= 0x80 &&
                is_written_without_spaces(code_point_at(word, 0).value);
  }
  if (unspaced * 5 <= static_cast<int64_t>(numbers_.size())) return;
  work_.warn(
      fmt::format("{}: much of the text is in a script without spaces between words, where a word token is a "
                  "whole clause; data.tokenizer = char or bpe suits it better",
                  work_.source.name()));
}

}  // namespace

void build_word_parts(CorpusWork& work) {
  WordCorpus(work).build();
}

}  // namespace tril
