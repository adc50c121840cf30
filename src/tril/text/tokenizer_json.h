// tokenizer.json of the word and char tokenizers, in the form that Hugging Face's `tokenizers` reads: a
// WordLevel model behind a normalizer and a Split that say the same as normalize.h and words.h. It leaves out
// BPE's file (bpe) and choosing between kinds (load_tokenizer.h).
#pragma once
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>

namespace tril {

/// The parts that mark a file as the word tokenizer's.
nlohmann::ordered_json word_normalizer_json();
nlohmann::ordered_json word_pre_tokenizer_json();
/// The part that marks a file as the char tokenizer's (which has no normalizer).
nlohmann::ordered_json char_pre_tokenizer_json();

/// The bytes of the word tokenizer's file; `tokens` in id order.
std::string word_tokenizer_json(std::span<const std::string> tokens);
/// The bytes of the char tokenizer's file; `tokens` in id order.
std::string char_tokenizer_json(std::span<const std::string> tokens);

}  // namespace tril
