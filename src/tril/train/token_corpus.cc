#include "tril/train/token_corpus.h"

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

#include "tril/base/error.h"
#include "tril/base/hash.h"
#include "tril/base/log.h"
#include "tril/formats/token_file.h"
#include "tril/text/load_tokenizer.h"

namespace tril {
namespace {

std::shared_ptr<const Tokenizer> tokenizer_of(const DataSettings& settings, const CorpusOptions& options) {
  if (options.tokenizer != nullptr) return options.tokenizer;
  const std::string& name = settings.tokenizer;
  if (name == "word" || name == "char" || name == "bpe") {
    refuse("{}: holds ids of tokens, not text: name the tokenizer they belong to, --set data.tokenizer=FILE",
           settings.path);
  }
  return load_tokenizer(name);
}

// What a file of ids can't be used for, as it is one stream without a text.
void require_stream(const DataSettings& settings, const CorpusOptions& options, const Tokenizer& tokenizer) {
  const auto needs_text = [&](std::string_view what) {
    refuse("{}: holds ids of tokens, and {} needs the text itself", settings.path, what);
  };
  if (tokenizer.kind() == "word") needs_text("a word tokenizer, which keeps documents apart,");
  if (options.document_bounds) needs_text("train.batches = \"documents\"");
  if (settings.split == "hash") needs_text("data.split = \"hash\"");
}

Tokens part_of_stream(std::span<const int32_t> ids, const Tokenizer& tokenizer) {
  Tokens part;
  if (ids.empty()) return part;
  part.ids.assign(ids.begin(), ids.end());
  part.end_document();
  part.text_bytes = static_cast<int64_t>(tokenizer.decode(ids).size());
  const auto end = tokenizer.end_of_document();
  part.content = std::count_if(ids.begin(), ids.end(), [&](int32_t id) { return id != end; });
  return part;
}

}  // namespace

bool is_token_file(const std::string& path) {
  return path.ends_with(".bin");
}

Corpus token_corpus(const DataSettings& settings, const CorpusOptions& options) {
  Corpus corpus;
  corpus.settings = settings;
  corpus.tokenizer = tokenizer_of(settings, options);
  require_stream(settings, options, *corpus.tokenizer);
  const int64_t vocab_size = corpus.tokenizer->vocab_size();
  const TokenFile file(settings.path, token_bits(settings.path, vocab_size));
  const std::vector<int32_t> ids = file.ids(vocab_size);
  if (ids.empty()) refuse("{}: has a header and no ids", settings.path);
  const std::string_view bytes = file.bytes();
  corpus.source = {"tokens", settings.path, static_cast<int64_t>(bytes.size()), 1, sha256_hex(bytes)};
  const bool all = settings.split == "none";
  const auto cut = all ? ids.size() : static_cast<size_t>(0.9 * static_cast<double>(ids.size()));
  const std::span<const int32_t> stream(ids);
  corpus.parts[static_cast<size_t>(Part::kTrain)] = part_of_stream(stream.first(cut), *corpus.tokenizer);
  corpus.parts[static_cast<size_t>(Part::kValidation)] =
      part_of_stream(stream.subspan(cut), *corpus.tokenizer);
  Audit& audit = corpus.audit;
  audit.documents_rule = "whole";
  audit.split = all ? "none" : "tail";
  audit.tokenizer = std::string(corpus.tokenizer->kind());
  audit.vocab_size = vocab_size;
  audit.notes.push_back(fmt::format("{}: {} ids of {} bits", settings.path, ids.size(), file.bits()));
  if (options.announce) log::note_line(audit.notes.back());
  count_parts(corpus.parts, corpus.tokenizer->unk().value_or(-1), false, {static_cast<int64_t>(ids.size())},
              audit);
  return corpus;
}

}  // namespace tril
