// tril data tokenize: a text's tokens, by the word rule or by a tokenizer's file. A file is read in pieces
// and the tokens are written as they come, so that its size does not matter; what comes otherwise is held
// whole.
#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>

#include "tril/base/error.h"
#include "tril/base/log.h"
#include "tril/base/progress.h"
#include "tril/base/quote.h"
#include "tril/base/table.h"
#include "tril/cli/commands.h"
#include "tril/cli/output.h"
#include "tril/cli/token_list.h"
#include "tril/data/read_text.h"
#include "tril/data/text_chunks.h"
#include "tril/formats/token_file.h"
#include "tril/text/load_tokenizer.h"
#include "tril/text/text_encoder.h"
#include "tril/train/output_place.h"

namespace tril::cli {
namespace {

using Json = nlohmann::ordered_json;

struct Asked {
  std::string path;
  std::optional<std::string> tokenizer, out;
  std::optional<int64_t> bits;
  bool specials = false;
};

// The texts of a source, again and again: JSON has ids first, then tokens.
class Texts {
 public:
  Texts(std::string path, bool words, bool any_bytes)
      : path_(std::move(path)), words_(words), any_bytes_(any_bytes) {
    std::error_code error;
    const std::string_view name = path_;
    streams_ = std::filesystem::is_regular_file(path_, error) && !name.ends_with(".jsonl") &&
               !name.ends_with(".ndjson");
    if (streams_) return;
    DataSettings settings;
    settings.path = path_;
    source_ = open_source(settings, any_bytes);
    announce(source_);
  }

  std::string name() const { return streams_ ? path_ : source_.name(); }

  /// Every token of every text; `end` behind each text.
  void encode(TextEncoder& encoder, const TextEncoder::Take& take, const std::function<void()>& end) {
    if (streams_) return stream(encoder, take, end);
    for (const std::string_view piece : source_.pieces) {
      encoder.feed(piece, take);
      encoder.finish(take);
      end();
    }
  }

 private:
  void stream(TextEncoder& encoder, const TextEncoder::Take& take, const std::function<void()>& end) {
    TextChunks chunks(path_, words_ ? ChunkEnd::kWhiteSpace : ChunkEnd::kCharacter, any_bytes_, read_before_);
    read_before_ = true;
    ProgressOptions counted;
    counted.bytes = true;
    Progress progress("tokenize", chunks.total(), counted);
    for (std::string_view piece; chunks.next(piece);) {
      encoder.feed(piece, take);
      progress.update(chunks.done());
    }
    encoder.finish(take);
    end();
    progress.finish();
  }

  std::string path_;
  bool words_, any_bytes_, streams_ = false, read_before_ = false;
  Source source_;
};

void warn_of(const TextEncoder& encoder, const std::string& name) {
  if (encoder.dropped() > 0)
    log::warn("{}: {} times '_' dropped: it belongs to no word token", name, with_commas(encoder.dropped()));
  const auto unknown = encoder.unknown(1);
  if (!unknown.empty())
    log::warn("{}: {} outside the vocabulary, read as <UNK>; the most frequent is {}", name,
              counted(encoder.unknown_count(), "word"), in_quotes(unknown[0].first));
}

// The ids of all texts, one after the other, as a file of token ids.
void write_ids(const Asked& asked, Texts& texts, TextEncoder& encoder, const Tokenizer& tokenizer,
               bool json) {
  const auto bits = static_cast<int>(asked.bits.value_or(tokenizer.vocab_size() <= 65536 ? 16 : 32));
  if (bits != 16 && bits != 32) refuse("--bits is {}; 16 and 32 are possible", bits);
  const int64_t count = write_token_file(*asked.out, bits, [&](const TakeId& take) {
    texts.encode(
        encoder, [&](const EncodedToken& token) { take(token.id); }, [] {});
  });
  if (json)
    print_json({{"path", *asked.out}, {"count", count}, {"bits", bits}});
  else
    print(fmt::format("{}: {} of {} bits\n", *asked.out, counted(count, "id"), bits));
}

using Show = std::function<std::string(const EncodedToken&)>;

// One pass over the texts: what `show` makes of each token, as lines or as one JSON array.
void write_list(Texts& texts, TextEncoder& encoder, bool json, const Show& show) {
  TokenList list(json);
  texts.encode(
      encoder, [&](const EncodedToken& token) { list.add(show(token)); }, [&] { list.end_text(); });
  list.close();
}

// First a pass that writes nothing: a text that is refused leaves no half a document.
void write_json(Texts& texts, TextEncoder& counted, const Tokenizer* tokenizer, Specials specials) {
  texts.encode(
      counted, [](const EncodedToken&) {}, [] {});
  constexpr size_t kMostTold = 1000;
  Json unknown = Json::array();
  for (const auto& [text, count] : counted.unknown(kMostTold))
    unknown.push_back({{"text", text}, {"count", count}});
  Json head = {{"tokenizer", tokenizer != nullptr ? tokenizer->kind() : "word"},
               {"count", counted.count()},
               {"dropped", counted.dropped()},
               {"unknown_count", counted.unknown_count()},
               {"unknown", std::move(unknown)}};
  if (tokenizer != nullptr) head["vocab_size"] = tokenizer->vocab_size();
  std::string text = head.dump(-1, ' ', false, Json::error_handler_t::replace);
  text.pop_back();  // the brace that the lists come before
  print(text);
  if (tokenizer != nullptr) {
    TextEncoder encoder(texts.name(), tokenizer, specials);
    print(", \"ids\": ");
    write_list(texts, encoder, true, [](const EncodedToken& token) { return std::to_string(token.id); });
  }
  TextEncoder encoder(texts.name(), tokenizer, specials);
  TokenNames names(tokenizer);
  print(", \"tokens\": ");
  write_list(texts, encoder, true, [&](const EncodedToken& token) { return names.quoted(token); });
  print("}\n");
}

int tokenize(const Asked& asked, bool json) {
  const std::string own = asked.tokenizer.value_or("");
  if (asked.out)
    require_output_place(*asked.out, {asked.path, own, own + "/tokenizer.json", own + "/vocab.json"});
  std::shared_ptr<const Tokenizer> tokenizer;
  if (asked.tokenizer) tokenizer = load_tokenizer(*asked.tokenizer);
  const bool bpe = tokenizer && tokenizer->kind() == "bpe";
  if (asked.specials && !bpe)
    refuse("--specials: only a BPE tokenizer has special tokens that can stand in a text");
  const Specials specials = asked.specials ? Specials::kAsTokens : Specials::kAsText;
  if ((asked.out || asked.bits) && tokenizer == nullptr) refuse("--out writes ids: give a --tokenizer");
  if (asked.bits && !asked.out) refuse("--bits is for --out");
  Texts texts(asked.path, !tokenizer || tokenizer->kind() == "word", bpe);
  TextEncoder encoder(texts.name(), tokenizer.get(), specials);
  if (asked.out) {
    write_ids(asked, texts, encoder, *tokenizer, json);
  } else if (json) {
    write_json(texts, encoder, tokenizer.get(), specials);
  } else {
    write_list(texts, encoder, false, [&](const EncodedToken& token) {
      return tokenizer ? std::to_string(token.id) : std::string(token.text);
    });
  }
  if (tokenizer) {
    log::note("{}: {} of a {} tokenizer with {}", texts.name(), counted(encoder.count(), "token"),
              tokenizer->kind(), counted(tokenizer->vocab_size(), "id"));
  } else {
    log::note("{}: {}", texts.name(), counted(encoder.count(), "token"));
  }
  warn_of(encoder, texts.name());
  return kExitDone;
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
  options.remark(
      "Without a tokenizer the words are shown, with one their ids. --json has both, and the words that a "
      "word\n"
      "tokenizer does not know, the most frequent first. A file of any size takes the same memory.");
  return [asked](const Common& common) { return tokenize(*asked, common.json); };
}

}  // namespace tril::cli
