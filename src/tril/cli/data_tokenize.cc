// tril data tokenize: a text's tokens, by the word rule or by a tokenizer's file.
#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "tril/base/error.h"
#include "tril/base/file.h"
#include "tril/base/log.h"
#include "tril/base/table.h"
#include "tril/cli/commands.h"
#include "tril/cli/output.h"
#include "tril/data/source.h"
#include "tril/text/load_tokenizer.h"
#include "tril/text/normalize.h"
#include "tril/text/words.h"

namespace tril::cli {
namespace {

struct Asked {
  std::string path;
  std::optional<std::string> tokenizer;
};

// A line of words for each piece of the source.
int show_words(const Source& source, bool json) {
  auto all = nlohmann::ordered_json::array();
  int64_t count = 0, dropped = 0;
  for (const std::string_view piece : source.pieces) {
    const std::string text = normalize(piece);
    WordScanner words(text);
    std::string line;
    for (std::string_view word; words.next(word); ++count) {
      if (json) {
        all.push_back(std::string(word));
        continue;
      }
      line += line.empty() ? "" : " ";
      line += word;
    }
    dropped += words.dropped();
    if (!json) print(line + "\n");
  }
  if (json) print_json({{"tokenizer", "word"}, {"count", count}, {"dropped", dropped}, {"tokens", all}});
  log::note("{}: {} tokens", source.name(), with_commas(count));
  if (dropped > 0)
    log::warn("{}: {} '_' belong to no token and are dropped", source.name(), with_commas(dropped));
  return kExitDone;
}

int show_ids(const Source& source, const Tokenizer& tokenizer, bool json) {
  auto ids = nlohmann::ordered_json::array(), tokens = nlohmann::ordered_json::array();
  int64_t count = 0;
  for (const std::string_view piece : source.pieces) {
    std::string line;
    for (const int32_t id : tokenizer.encode(piece)) {
      ++count;
      if (json) {
        ids.push_back(id);
        tokens.push_back(tokenizer.token_text(id));
      } else {
        line += line.empty() ? "" : " ";
        line += std::to_string(id);
      }
    }
    if (!json) print(line + "\n");
  }
  if (json)
    print_json({{"tokenizer", tokenizer.kind()},
                {"vocab_size", tokenizer.vocab_size()},
                {"count", count},
                {"ids", ids},
                {"tokens", tokens}});
  log::note("{}: {} tokens of a {} tokenizer with {} ids", source.name(), with_commas(count),
            tokenizer.kind(), with_commas(tokenizer.vocab_size()));
  return kExitDone;
}

}  // namespace

Action declare_data_tokenize(Options& options) {
  auto asked = std::make_shared<Asked>();
  options.word("PATH", asked->path,
               "a text file, a folder of .txt, a .jsonl file, tales, or - for standard input");
  options.text("--tokenizer", "FILE|RUN", asked->tokenizer,
               "a tokenizer.json, or a run that holds one (default: words)");
  options.remark("Without a tokenizer the words are shown, with one their ids. --json has both.");
  return [asked](const Common& common) {
    std::shared_ptr<const Tokenizer> tokenizer;
    if (asked->tokenizer) tokenizer = load_tokenizer(*asked->tokenizer);
    DataSettings settings;
    settings.path = asked->path;
    const Source source = open_source(settings, tokenizer != nullptr && tokenizer->kind() == "bpe");
    return tokenizer != nullptr ? show_ids(source, *tokenizer, common.json) : show_words(source, common.json);
  };
}

}  // namespace tril::cli
