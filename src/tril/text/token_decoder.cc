#include "tril/text/token_decoder.h"

namespace tril {
namespace {

/// For tokenizers whose every id stands for the same bytes wherever it is.
class EachAlone : public TokenDecoder {
 public:
  explicit EachAlone(const Tokenizer& tokenizer) : tokenizer_(tokenizer) {}
  std::string push(int32_t id) override { return tokenizer_.decode({&id, 1}); }

 private:
  const Tokenizer& tokenizer_;
};

}  // namespace

std::unique_ptr<TokenDecoder> make_decoder(const Tokenizer& tokenizer) {
  if (const auto* words = dynamic_cast<const WordTokenizer*>(&tokenizer)) return make_word_decoder(*words);
  return std::make_unique<EachAlone>(tokenizer);
}

}  // namespace tril
