#include <algorithm>

#include "fuzz.h"
#include "tril/text/bpe_files.h"
#include "tril/text/load_tokenizer.h"
#include "tril/text/tiktoken_file.h"

namespace {
using namespace tril;

constexpr std::string_view kText = "a b  12\n";

// tokenizer.json: what is written of it gives the same ids.
void read_json(std::string_view bytes) {
  const auto tokenizer = parse_tokenizer(bytes, "x");
  std::vector<int32_t> ids;
  try {
    ids = tokenizer->encode(kText);
    tokenizer->decode(ids);
  } catch (const Refusal&) {  // a character without a token
    return;
  }
  accept([&] {
    require(parse_tokenizer(tokenizer->to_json(), "written")->encode(kText) == ids,
            "tokenizer: written and read again, it gives other ids");
  });
}
}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  fuzz(data, size, read_json);
  return fuzz(data, size, [](std::string_view bytes) {
    // A tiktoken file, or the two halves of vocab.json and merges.txt with a zero between them.
    const size_t half = bytes.find('\0');
    if (half == bytes.npos) {
      parse_tiktoken(bytes, "x", "gpt4")->encode(kText);
      return;
    }
    parse_vocab_and_merges(bytes.substr(0, half), "vocab", bytes.substr(half + 1), "merges")->encode(kText);
  });
}
