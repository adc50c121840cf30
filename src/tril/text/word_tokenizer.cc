#include "tril/text/word_tokenizer.h"

#include "tril/text/token_decoder.h"

#include <algorithm>
#include <array>

#include "tril/base/error.h"
#include "tril/base/quote.h"
#include "tril/text/normalize.h"
#include "tril/text/tokenizer_json.h"
#include "tril/text/utf8.h"
#include "tril/text/words.h"

namespace tril {
namespace {

constexpr std::array<std::string_view, 4> kSpecialNames = {"<PAD>", "<BOS>", "<EOS>", "<UNK>"};

bool is_one_of(std::string_view token, std::span<const std::string_view> list) {
  return std::find(list.begin(), list.end(), token) != list.end();
}

/// Decides the spaces of decoded text. It glues punctuation alone, and an apostrophe never on both sides, so
/// the word rule finds the same tokens again.
class Spacing {
 public:
  /// Whether a space goes before the token, which is not the first.
  bool before(std::string_view token) {
    static constexpr std::array<std::string_view, 11> kClosing = {".", ",", "!", "?", ";", ":",
                                                                  ")", "]", "}", "”", "’"};
    static constexpr std::array<std::string_view, 5> kOpening = {"(", "[", "{", "“", "‘"};
    bool closes = is_one_of(token, kClosing);
    bool opens = is_one_of(token, kOpening);
    for (size_t q = 0; q < 2; ++q) {
      if (token != (q == 0 ? "\"" : "'")) continue;
      closes = quote_open_[q];
      opens = !closes;
      quote_open_[q] = opens;
    }
    const bool space = !closes && !glue_next_;
    glue_next_ = opens;
    return space;
  }

 private:
  bool quote_open_[2] = {false, false};
  bool glue_next_ = false;
};

class WordDecoder : public TokenDecoder {
 public:
  explicit WordDecoder(const WordTokenizer& tokenizer) : tokenizer_(tokenizer) {}

  std::string push(int32_t id) override {
    std::string token = tokenizer_.token_text(id);
    if (id < WordTokenizer::kUnk) return "";
    const bool space = spacing_.before(token) && begun_;
    begun_ = true;
    return space ? " " + token : token;
  }

 private:
  const WordTokenizer& tokenizer_;
  Spacing spacing_;
  bool begun_ = false;
};

}  // namespace

std::span<const std::string_view> word_specials() {
  return kSpecialNames;
}

WordTokenizer::WordTokenizer(const std::vector<std::string>& words) {
  tokens_.reserve(words.size() + kSpecials);
  tokens_.assign(kSpecialNames.begin(), kSpecialNames.end());
  tokens_.insert(tokens_.end(), words.begin(), words.end());
  ids_.reserve(words.size());
  for (size_t id = kSpecials; id < tokens_.size(); ++id) {
    const std::string& word = tokens_[id];
    if (is_one_of(word, kSpecialNames)) refuse("vocabulary: id {}: {} is a special's name", id, word);
    const auto [place, fresh] = ids_.emplace(word, static_cast<int32_t>(id));
    if (!fresh) refuse("vocabulary: {} has two ids, {} and {}", in_quotes(word), place->second, id);
  }
}

std::vector<int32_t> WordTokenizer::encode(std::string_view text) const {
  const std::string normal = normalized(text);
  std::vector<int32_t> ids;
  WordScanner scanner(normal);
  for (std::string_view token; scanner.next(token);) ids.push_back(id_of(token));
  return ids;
}

std::string WordTokenizer::decode(std::span<const int32_t> ids) const {
  std::string text;
  WordDecoder decoder(*this);
  for (size_t i = 0; i < ids.size(); ++i) {
    require_id(ids[i], static_cast<int64_t>(i));
    text += decoder.push(ids[i]);
  }
  return text;
}

std::unique_ptr<TokenDecoder> make_word_decoder(const WordTokenizer& tokenizer) {
  return std::make_unique<WordDecoder>(tokenizer);
}

std::string WordTokenizer::token_text(int32_t id) const {
  require_id(id, 0);
  return tokens_[static_cast<size_t>(id)];
}

std::string WordTokenizer::normalized(std::string_view text) const {
  require_utf8(text, "text");
  return normalize(text);
}

std::vector<UnknownToken> WordTokenizer::unknown(std::string_view text) const {
  const std::string normal = normalized(text);
  std::vector<UnknownToken> found;
  WordScanner scanner(normal);
  int64_t position = 0;
  for (std::string_view token; scanner.next(token); ++position) {
    if (id_of(token) == kUnk) found.push_back({std::string(token), position});
  }
  return found;
}

std::string WordTokenizer::to_json() const {
  return word_tokenizer_json(tokens_);
}

}  // namespace tril
