#include "tril/data/corpus.h"

#include <nlohmann/json.hpp>

#include "tril/base/error.h"
#include "tril/base/log.h"
#include "tril/base/table.h"
#include "tril/data/corpus_parts.h"
#include "tril/text/load_tokenizer.h"

namespace tril {
namespace {

using Json = nlohmann::json;

std::shared_ptr<const Tokenizer> given_tokenizer(const DataSettings& settings, const CorpusOptions& options) {
  if (options.tokenizer != nullptr) return options.tokenizer;
  const std::string& name = settings.tokenizer;
  if (name == "word" || name == "char" || name == "bpe") return nullptr;
  return load_tokenizer(name);
}

/// data.stories: the first so many documents.
void take_stories(CorpusWork& work) {
  const int64_t wanted = work.settings.stories;
  auto& texts = work.documents.texts;
  const auto have = static_cast<int64_t>(texts.size());
  if (wanted <= 0) return;
  if (have > wanted) {
    work.note(fmt::format("{}: the first {} of {} are taken; --set data.stories=0 takes all",
                          work.source.name(), with_commas(wanted), counted(have, "document")));
    texts.resize(static_cast<size_t>(wanted));
  } else if (have < wanted) {
    work.note(fmt::format("{}: {}, fewer than the {} asked for: all are taken", work.source.name(),
                          counted(have, "document"), with_commas(wanted)));
  }
}

/// Where a file was read as one text though it looks like a list.
void hint_at_lines(const CorpusWork& work) {
  if (work.settings.documents != "auto" || work.source.path.empty() || work.documents.texts.size() != 1)
    return;
  if (const int64_t lines = list_lines(work.documents.texts[0]); lines > 0)
    work.note(
        fmt::format("{}: its {} short lines are read as one text; --set data.documents=line makes each of "
                    "them a document",
                    work.source.name(), with_commas(lines)));
}

/// A tail is cut from the text as it stands, so documents don't matter to it unless some of them are asked
/// for.
std::string rule_of(const DataSettings& settings, const Source& source, bool words) {
  if (settings.split == "tail" && settings.documents == "auto" && settings.stories == 0) return "whole";
  return document_rule(settings.documents, source, words);
}

void warn_of_trouble(const CorpusWork& work) {
  const Audit& audit = work.corpus.audit;
  const std::string name = work.source.name();
  if (audit.empty_documents > 0) {
    work.warn(fmt::format("{}: {} without text dropped", name, counted(audit.empty_documents, "document")));
  }
  if (audit.duplicates > 0) {
    work.warn(fmt::format("{}: {} dropped that repeat an earlier one (data.dedupe = false keeps them)", name,
                          counted(audit.duplicates, "document")));
  }
  if (audit.encoding.nul > 0) {
    work.warn(fmt::format("{}: {}, read as characters", name, counted(audit.encoding.nul, "NUL byte")));
  }
  if (audit.encoding.replacement > 0) {
    work.warn(fmt::format("{}: {} times U+FFFD, which a program leaves where it could not read the text",
                          name, with_commas(audit.encoding.replacement)));
  }
  for (const auto& [character, count] : audit.uncovered) {
    work.warn(fmt::format("{}: {} times '{}' dropped: it belongs to no word token", name, with_commas(count),
                          character));
  }
  const PartAudit& train = audit.parts[0];
  if (train.unknown * 4 > train.tokens) {
    work.warn(fmt::format(
        "{}: {:.0f}% of the training words are unknown; lower data.min_count or raise data.vocabulary", name,
        100.0 * static_cast<double>(train.unknown) / static_cast<double>(train.tokens)));
  }
  if (audit.split == "none") return;
  for (const Part part : {Part::kValidation, Part::kTest}) {
    if (audit.parts[static_cast<size_t>(part)].documents > 0 ||
        (part == Part::kTest && audit.split == "tail"))
      continue;
    work.warn(fmt::format("{}: no {} documents, so nothing is measured on them", name, part_name(part)));
  }
}

}  // namespace

void CorpusWork::note(const std::string& text) const {
  corpus.audit.notes.push_back(text);
  if (options.announce) log::note_line(text);
}

void CorpusWork::warn(const std::string& text) const {
  corpus.audit.warnings.push_back(text);
  if (options.announce) log::warning_line(text);
}

Corpus build_corpus(const DataSettings& settings, const CorpusOptions& options) {
  Corpus corpus;
  corpus.settings = settings;
  corpus.tokenizer = given_tokenizer(settings, options);
  const std::string kind(corpus.tokenizer ? corpus.tokenizer->kind() : std::string_view(settings.tokenizer));
  const bool words = kind == "word";
  if (words && settings.split == "tail") {
    refuse("data.split: tail cuts one stream of text, and word documents are no stream; use hash or none");
  }
  const Source source = open_source(settings, kind == "bpe");
  corpus.source = {source.kind, source.path, source.bytes, source.files, source.sha256};
  const std::string rule = rule_of(settings, source, words);
  CorpusWork work{settings, options, source, cut_documents(source, rule), corpus};
  Audit& audit = corpus.audit;
  audit.documents_rule = rule;
  audit.split = settings.split == "auto" ? "hash" : settings.split;
  audit.tokenizer = kind;
  audit.vocabulary_cap = settings.vocabulary;
  audit.empty_documents = work.documents.empty;
  audit.encoding = source.encoding;
  for (const std::string& note : source.notes) work.note(note);
  for (const std::string& warning : source.warnings) work.warn(warning);
  hint_at_lines(work);
  take_stories(work);
  if (words) {
    build_word_parts(work);
  } else {
    build_stream_parts(work);
  }
  audit.vocab_size = corpus.tokenizer->vocab_size();
  count_parts(corpus.parts, corpus.tokenizer->unk().value_or(-1), words || options.document_bounds,
              std::move(work.lengths), audit);
  warn_of_trouble(work);
  return corpus;
}

Json data_settings_json(const DataSettings& settings) {
  return {{"path", settings.path},
          {"text", settings.text},
          {"repeat", settings.repeat},
          {"documents", settings.documents},
          {"stories", settings.stories},
          {"seed", settings.seed},
          {"split", settings.split},
          {"dedupe", settings.dedupe},
          {"tokenizer", settings.tokenizer},
          {"pattern", settings.pattern},
          {"vocabulary", settings.vocabulary},
          {"min_count", settings.min_count}};
}

Json manifest_json(const Corpus& corpus) {
  return {
      {"source",
       {{"kind", corpus.source.kind},
        {"path", corpus.source.path},
        {"bytes", corpus.source.bytes},
        {"files", corpus.source.files},
        {"sha256", corpus.source.sha256}}},
      {"settings", data_settings_json(corpus.settings)},
      {"tokenizer", {{"kind", corpus.tokenizer->kind()}, {"fingerprint", corpus.tokenizer->fingerprint()}}},
      {"audit", audit_json(corpus.audit)}};
}

void require_same_source(const Json& manifest, const Corpus& corpus) {
  const Json empty = Json::object();
  const auto text = [&](const char* part, const char* key) {
    const Json& object = manifest.contains(part) ? manifest[part] : empty;
    return object.contains(key) && object[key].is_string() ? object[key].get<std::string>() : std::string();
  };
  const std::string hash = text("source", "sha256"), fingerprint = text("tokenizer", "fingerprint");
  const std::string name = corpus.source.path.empty() ? "data.text" : corpus.source.path;
  if (hash != corpus.source.sha256) {
    refuse(
        "{}: the text has changed since the run began (SHA-256 {} then, {} now); put the old text back, or "
        "start a "
        "new run",
        name, hash, corpus.source.sha256);
  }
  if (fingerprint != corpus.tokenizer->fingerprint()) {
    refuse(
        "{}: the same text now gives another tokenizer (fingerprint {} then, {} now); another version of "
        "tril or of "
        "utf8proc made the run",
        name, fingerprint, corpus.tokenizer->fingerprint());
  }
}

}  // namespace tril
