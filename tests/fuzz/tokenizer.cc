#include "fuzz.h"
#include "tril/text/bpe.h"
#include "tril/text/bpe_files.h"
#include "tril/text/load_tokenizer.h"
#include "tril/text/tiktoken_file.h"

namespace {
using namespace tril;

constexpr std::string_view kText = "a b  12<s>\n";

// tokenizer.json: what is written of it gives the same ids.
void read_json(std::string_view bytes) {
  const auto tokenizer = load_tokenizer(as_file(bytes, ".json"));
  const auto* bpe = dynamic_cast<const BpeTokenizer*>(tokenizer.get());
  std::vector<int32_t> ids;
  try {
    ids = bpe != nullptr ? bpe->encode(kText, Specials::kAsTokens) : tokenizer->encode(kText);
    tokenizer->decode(ids);
    for (const int32_t id : ids) tokenizer->token_text(id);
    ids = tokenizer->encode(kText);
  } catch (const Refusal&) {  // a character without a token
    return;
  }
  accept([&] {
    require(parse_tokenizer(tokenizer->to_json(), "written")->encode(kText) == ids,
            "tokenizer: written and read again, it gives other ids");
  });
}

// The two halves of vocab.json and merges.txt, with a zero between them.
void read_pair(std::string_view bytes) {
  const size_t half = bytes.find('\0');
  if (half == bytes.npos) return;
  parse_vocab_and_merges(bytes.substr(0, half), "vocab", bytes.substr(half + 1), "merges")->encode(kText);
}
}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  fuzz(data, size, read_json);
  fuzz(data, size, read_pair);
  fuzz(data, size, [](std::string_view bytes) { load_tokenizer(as_file(bytes, ".tiktoken")); });
  for (const char* encoding : {"gpt2", "gpt4", "cl100k_base", "o200k_base"})
    fuzz(data, size, [&](std::string_view bytes) { parse_tiktoken(bytes, "x", encoding)->encode(kText); });
  return 0;
}
