#include "tril/cli/token_list.h"

#include <nlohmann/json.hpp>

#include "tril/cli/output.h"

namespace tril::cli {
namespace {

std::string as_json(std::string_view text) {
  using Json = nlohmann::json;
  return Json(std::string(text)).dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace

TokenList::TokenList(bool json) : json_(json) {
  if (json_) waiting_ = "[";
}

void TokenList::hand_on(size_t least) {
  if (waiting_.size() < least) return;
  print(waiting_);
  waiting_.clear();
}

void TokenList::add(std::string_view token) {
  constexpr size_t kAtOnce = 1 << 16;
  if (!first_) waiting_ += json_ ? ", " : " ";
  first_ = false;
  waiting_ += token;
  hand_on(kAtOnce);
}

void TokenList::end_text() {
  if (json_) return;
  waiting_ += "\n";
  first_ = true;
  hand_on(0);
}

void TokenList::close() {
  if (json_) waiting_ += "]";
  hand_on(0);
}

TokenNames::TokenNames(const Tokenizer* tokenizer)
    : tokenizer_(tokenizer), made_(tokenizer != nullptr ? static_cast<size_t>(tokenizer->vocab_size()) : 0) {}

std::string TokenNames::quoted(const EncodedToken& token) {
  if (tokenizer_ == nullptr) return as_json(token.text);
  std::string& made = made_[static_cast<size_t>(token.id)];
  if (made.empty()) made = as_json(tokenizer_->token_text(token.id));
  return made;
}

}  // namespace tril::cli
