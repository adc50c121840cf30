// tril data tokenize: a text's tokens, by the word rule or by a tokenizer's file.
#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>

#include "tril/base/error.h"
#include "tril/base/file.h"
#include "tril/base/log.h"
#include "tril/base/progress.h"
#include "tril/base/sniff.h"
#include "tril/base/table.h"
#include "tril/cli/commands.h"
#include "tril/cli/output.h"
#include "tril/data/source.h"
#include "tril/formats/token_file.h"
#include "tril/text/bpe_stream.h"
#include "tril/text/load_tokenizer.h"
#include "tril/text/normalize.h"
#include "tril/text/words.h"

namespace tril::cli {
namespace {

struct Asked {
  std::string path;
  std::optional<std::string> tokenizer, out;
  std::optional<int64_t> bits;
  bool specials = false;
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

void note_count(const std::string& name, int64_t count, const Tokenizer& tokenizer) {
  log::note("{}: {} tokens of a {} tokenizer with {} ids", name, with_commas(count), tokenizer.kind(),
            with_commas(tokenizer.vocab_size()));
}

int show_ids(const Source& source, const Tokenizer& tokenizer, Specials specials, bool json) {
  const auto* bpe = dynamic_cast<const BpeTokenizer*>(&tokenizer);
  auto ids = nlohmann::ordered_json::array(), tokens = nlohmann::ordered_json::array();
  int64_t count = 0;
  for (const std::string_view piece : source.pieces) {
    std::string line;
    for (const int32_t id : bpe ? bpe->encode(piece, specials) : tokenizer.encode(piece)) {
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
  note_count(source.name(), count, tokenizer);
  return kExitDone;
}

// The ids of all pieces, one after the other, as a file of token ids.
int write_ids(const Asked& asked, const Source& source, const Tokenizer& tokenizer, Specials specials,
              bool json) {
  const auto* bpe = dynamic_cast<const BpeTokenizer*>(&tokenizer);
  std::vector<int32_t> all;
  for (const std::string_view piece : source.pieces) {
    const std::vector<int32_t> ids = bpe ? bpe->encode(piece, specials) : tokenizer.encode(piece);
    all.insert(all.end(), ids.begin(), ids.end());
  }
  const auto bits = static_cast<int>(asked.bits.value_or(tokenizer.vocab_size() <= 65536 ? 16 : 32));
  if (bits != 16 && bits != 32) refuse("--bits is {}; 16 and 32 are possible", bits);
  write_token_file(*asked.out, all, bits);
  const auto count = static_cast<int64_t>(all.size());
  if (json)
    print_json({{"path", *asked.out}, {"count", count}, {"bits", bits}});
  else
    print(fmt::format("{}: {} ids of {} bits\n", *asked.out, with_commas(count), bits));
  note_count(source.name(), count, tokenizer);
  return kExitDone;
}

// The ids of a file that need not fit in memory, on one line.
int stream_ids(const std::string& path, const BpeTokenizer& tokenizer, Specials specials) {
  constexpr std::string_view kMark = "\xEF\xBB\xBF";
  std::string head(kSniffBytes, '\0');
  std::ifstream file(path, std::ios::binary);
  if (!file) refuse("{}: can't be read", path);
  file.read(head.data(), static_cast<std::streamsize>(head.size()));
  head.resize(static_cast<size_t>(file.gcount()));
  refuse_unless_text(path, head);
  const bool marked = head.starts_with(kMark);
  if (marked) log::note("{}: the byte-order mark at its start is dropped", path);
  ProgressOptions counted;
  counted.bytes = true;
  Progress progress("tokenize", static_cast<int64_t>(std::filesystem::file_size(path)), counted);
  int64_t count = 0;
  encode_file(
      path, tokenizer, specials,
      [&](std::span<const int32_t> ids) {
        std::string text;
        for (const int32_t id : ids) {
          if (count++) text += ' ';
          text += std::to_string(id);
        }
        print(text);
      },
      [&](int64_t done, int64_t) { progress.update(done); }, marked ? kMark.size() : 0);
  print("\n");
  progress.finish();
  note_count(path, count, tokenizer);
  return kExitDone;
}

int tokenize(const Asked& asked, bool json) {
  std::shared_ptr<const Tokenizer> tokenizer;
  if (asked.tokenizer) tokenizer = load_tokenizer(*asked.tokenizer);
  const auto* bpe = dynamic_cast<const BpeTokenizer*>(tokenizer.get());
  if (asked.specials && bpe == nullptr) {
    refuse("--specials: only a BPE tokenizer has special tokens that can stand in a text");
  }
  const Specials specials = asked.specials ? Specials::kAsTokens : Specials::kAsText;
  if ((asked.out || asked.bits) && tokenizer == nullptr) refuse("--out writes ids: give a --tokenizer");
  if (asked.bits && !asked.out) refuse("--bits is for --out");
  if (bpe != nullptr && !json && !asked.out && std::filesystem::is_regular_file(asked.path) &&
      !asked.path.ends_with(".jsonl")) {
    return stream_ids(asked.path, *bpe, specials);
  }
  DataSettings settings;
  settings.path = asked.path;
  const Source source = open_source(settings, bpe != nullptr);
  if (asked.out) return write_ids(asked, source, *tokenizer, specials, json);
  return tokenizer != nullptr ? show_ids(source, *tokenizer, specials, json) : show_words(source, json);
}

}  // namespace

Action declare_data_tokenize(Options& options) {
  auto asked = std::make_shared<Asked>();
  options.word("PATH", asked->path,
               "a text file, a folder of .txt, a .jsonl file, tales, or - for standard input");
  options.text("--tokenizer", "FILE|RUN", asked->tokenizer,
               "a tokenizer.json, vocab.json beside merges.txt, a .tiktoken file, or a run (default: words)");
  options.text("--out", "FILE", asked->out, "write the ids to a .bin file (docs/formats/token-bin.md)");
  options.integer("--bits", asked->bits, 16, 32,
                  "width of an id there: 16 or 32 (default: 16 where ids fit)");
  options.flag("--specials", asked->specials, "special tokens written in the text become their ids (BPE)");
  options.remark("Without a tokenizer the words are shown, with one their ids. --json has both.");
  return [asked](const Common& common) { return tokenize(*asked, common.json); };
}

}  // namespace tril::cli
