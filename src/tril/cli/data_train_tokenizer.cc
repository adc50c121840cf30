// tril data train-tokenizer: byte-level BPE merges from a text.
#include <memory>
#include <nlohmann/json.hpp>

#include "tril/base/clock.h"
#include "tril/base/error.h"
#include "tril/base/file.h"
#include "tril/base/log.h"
#include "tril/base/progress.h"
#include "tril/base/table.h"
#include "tril/cli/commands.h"
#include "tril/cli/output.h"
#include "tril/data/source.h"
#include "tril/text/bpe_train.h"
#include "tril/train/output_place.h"

namespace tril::cli {
namespace {

struct Asked {
  std::string path;
  std::optional<int64_t> vocab, min_count;
  std::optional<std::string> out, pattern;
};

int train(const Asked& asked, const Common& common) {
  const double start = steady_seconds();
  require_output_place(*asked.out, {asked.path});
  DataSettings data;
  data.path = asked.path;
  const Source source = open_source(data, true);
  for (const std::string& note : source.notes) log::note("{}", note);
  for (const std::string& warning : source.warnings) log::warn("{}", warning);
  BpeTrainSettings settings;
  settings.vocab_size = *asked.vocab;
  settings.min_count = asked.min_count.value_or(1);
  if (asked.pattern == "gpt4") settings.pattern = SplitPattern::kGpt4;
  Progress progress("merges", *asked.vocab);
  settings.progress = [&](int64_t done, int64_t) { progress.update(done); };
  BpeTrainer trainer(settings);
  for (const std::string_view piece : source.pieces) trainer.add(piece);
  if (trainer.bytes() == 0) refuse("{}: no trainable text", source.name());
  const int64_t pieces = trainer.pieces(), bytes = trainer.bytes();
  const BpeTokenizer tokenizer(trainer.train());
  progress.finish();
  write_file_atomically(*asked.out, tokenizer.to_json());
  const double seconds = steady_seconds() - start;
  if (tokenizer.vocab_size() < *asked.vocab) {
    log::note("{}: no pair is left to merge: {} ids, fewer than the {} asked for", source.name(),
              with_commas(tokenizer.vocab_size()), with_commas(*asked.vocab));
  }
  const auto merges = static_cast<int64_t>(tokenizer.definition().merges.size());
  if (common.json) {
    print_json({{"tokenizer", *asked.out},
                {"vocab_size", tokenizer.vocab_size()},
                {"merges", merges},
                {"bytes", bytes},
                {"pieces", pieces},
                {"fingerprint", tokenizer.fingerprint()},
                {"seconds", seconds}});
  } else {
    print(fmt::format("{}: {} ids ({} bytes, {} merges, {}) from {} bytes of text in {:.2f} s\n", *asked.out,
                      with_commas(tokenizer.vocab_size()), 256, with_commas(merges), "<|endoftext|>",
                      with_commas(bytes), seconds));
  }
  return kExitDone;
}

}  // namespace

Action declare_data_train_tokenizer(Options& options) {
  auto asked = std::make_shared<Asked>();
  options.word("PATH", asked->path,
               "a text file, a folder of .txt, a .jsonl file, tales, or - for standard input");
  options.integer("--vocab", asked->vocab, 257, 2147483647,
                  "how many ids: 256 bytes, the merges and <|endoftext|>");
  options.required();
  options.text("--out", "FILE", asked->out, "the tokenizer.json to write");
  options.required();
  options.choice("--pattern", {"gpt2", "gpt4"}, asked->pattern,
                 "how text is split before merging (default: gpt2)");
  options.integer("--min-count", asked->min_count, 1, 9007199254740991,
                  "stop where the best pair is seen less often (default: 1)");
  options.remark(
      "Each file is one text; each record of a .jsonl file and each tale too. The merges are those that\n"
      "Hugging Face's BpeTrainer makes of the same text with the same pattern.");
  return [asked](const Common& common) { return train(*asked, common); };
}

}  // namespace tril::cli
