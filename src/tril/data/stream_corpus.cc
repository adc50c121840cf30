// Streams of characters or BPE pieces: documents byte for byte, one behind the other. It leaves out words
// (word_corpus.cc) and what both share (corpus.cc).
#include <algorithm>
#include <cmath>

#include "tril/base/error.h"
#include "tril/base/progress.h"
#include "tril/data/corpus_parts.h"
#include "tril/text/bpe_train.h"
#include "tril/text/char_tokenizer.h"
#include "tril/text/normalize.h"
#include "tril/text/utf8.h"

namespace tril {
namespace {

/// Documents kept byte for byte, each followed by the end token where the stream has several, in up to three
/// streams.
class StreamCorpus {
 public:
  StreamCorpus(CorpusWork& work, std::string split) : work_(work), split_(std::move(split)) {}

  void build() {
    if (split_ == "hash") {
      split_by_hash();
    } else {
      for (const std::string_view text : work_.documents.texts) documents_.push_back({text, 0, Part::kTrain});
      if (split_ == "tail") cut_tail();
    }
    choose_tokenizer();
    fill_parts();
  }

 private:
  struct Document {
    std::string_view text;
    uint64_t id;
    Part part;
    bool continues = false;  // the next one goes on with this text: no end token between them
  };

  void split_by_hash();
  void cut_tail();
  void choose_tokenizer();
  void train_merges();
  void fill_parts();
  void append(const Document& document, int64_t number, Tokens& part);

  CorpusWork& work_;
  std::string split_;
  std::vector<Document> documents_;
};

void StreamCorpus::split_by_hash() {
  Duplicates duplicates;
  std::string normal;
  for (const std::string_view text : work_.documents.texts) {
    // The same text has the same id and part under every tokenizer; bytes that are no UTF-8 count as they
    // are.
    if (first_invalid_utf8(text)) {
      normal = text;
    } else {
      normalize_into(text, normal);
    }
    const Digest digest = sha256(normal);
    if (work_.settings.dedupe && duplicates.seen(digest)) {
      ++work_.corpus.audit.duplicates;
      continue;
    }
    documents_.push_back({text, document_id(digest), part_of(normal)});
  }
  place_by_hash(documents_, work_);
}

/// The first int(0.9 n) characters train, the rest is validation.
void StreamCorpus::cut_tail() {
  int64_t characters = 0;
  for (const Document& document : documents_) characters += count_code_points(document.text);
  auto left = static_cast<int64_t>(0.9 * static_cast<double>(characters));
  for (size_t i = 0; i < documents_.size(); ++i) {
    const std::string_view text = documents_[i].text;
    const int64_t own = count_code_points(text);
    if (left >= own) {
      left -= own;
      continue;
    }
    documents_[i].part = Part::kValidation;
    if (left > 0) {
      const size_t cut = code_point_offset(text, left);
      documents_[i].text = text.substr(cut);
      documents_.insert(documents_.begin() + static_cast<std::ptrdiff_t>(i),
                        {text.substr(0, cut), 0, Part::kTrain, true});
      ++i;
      left = 0;
    }
  }
}

void StreamCorpus::choose_tokenizer() {
  if (work_.corpus.tokenizer != nullptr) return;
  if (work_.settings.tokenizer == "bpe") return train_merges();
  std::vector<std::string_view> texts;
  for (const Document& document : documents_) texts.push_back(document.text);
  // The newline that ends each of several documents belongs to the vocabulary.
  if (work_.documents.texts.size() > 1 && !work_.options.document_bounds) texts.push_back("\n");
  work_.corpus.tokenizer = std::make_shared<CharTokenizer>(CharTokenizer::sorted_code_points(texts),
                                                           work_.options.document_bounds);
}

/// Merges from the training documents, each a text of its own.
void StreamCorpus::train_merges() {
  const DataSettings& settings = work_.settings;
  BpeTrainSettings wanted;
  if (settings.vocabulary > 0) wanted.vocab_size = settings.vocabulary;
  if (settings.pattern == "gpt4") wanted.pattern = SplitPattern::kGpt4;
  Progress progress("merge", wanted.vocab_size);
  wanted.progress = [&](int64_t done, int64_t total) { progress.update(wanted.vocab_size - total + done); };
  BpeTrainer trainer(wanted);
  for (const Document& document : documents_) {
    if (document.part == Part::kTrain) trainer.add(document.text);
  }
  const auto tokenizer = std::make_shared<BpeTokenizer>(trainer.train());
  if (tokenizer->vocab_size() < wanted.vocab_size) {
    work_.note(fmt::format("{}: no pair is left to merge: {} ids, fewer than the {} asked for",
                           work_.source.name(), tokenizer->vocab_size(), wanted.vocab_size));
  }
  work_.corpus.tokenizer = tokenizer;
}

void StreamCorpus::append(const Document& document, int64_t number, Tokens& part) {
  try {
    const std::vector<int32_t> ids = work_.corpus.tokenizer->encode(document.text);
    part.ids.insert(part.ids.end(), ids.begin(), ids.end());
    part.content += static_cast<int64_t>(ids.size());
    work_.lengths.push_back(static_cast<int64_t>(ids.size()));
  } catch (const Refusal& refusal) {
    refuse("{}: document {}: {}", work_.source.name(), number, refusal.what());
  }
}

void StreamCorpus::fill_parts() {
  const Tokenizer& tokenizer = *work_.corpus.tokenizer;
  const auto end = tokenizer.end_of_document();
  const bool bounds = work_.options.document_bounds && tokenizer.bos();
  const bool several = work_.documents.texts.size() > 1;
  int64_t number = 0;
  for (const Document& document : documents_) {
    Tokens& part = work_.corpus.parts[static_cast<size_t>(document.part)];
    if (bounds) part.ids.push_back(*tokenizer.bos());
    append(document, ++number, part);
    if (bounds) {
      part.ids.push_back(*tokenizer.bos());
    } else if (several && end && !document.continues) {
      part.ids.push_back(*end);
    }
    part.end_document();
    if (split_ == "hash") part.document_ids.push_back(document.id);
    part.text_bytes += static_cast<int64_t>(document.text.size());
  }
}

}  // namespace

void build_stream_parts(CorpusWork& work) {
  std::string split = work.settings.split;
  if (split == "auto") split = work.documents.texts.size() > 1 ? "hash" : "tail";
  work.corpus.audit.split = split;
  if (work.documents.texts.empty()) {
    refuse("{}: no trainable text: it {}", work.source.name(),
           work.source.bytes == 0 ? "is empty" : "holds nothing but white space");
  }
  StreamCorpus(work, split).build();
}

}  // namespace tril
