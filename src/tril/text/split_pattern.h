// The split patterns of byte-level BPE, written by hand: how GPT-2 and GPT-4 cut text into pieces before any
// merging. Each is exactly the regular expression that pattern_source() gives, in linear time and without
// recursion. What it leaves out: arbitrary expressions (split_regex) and chains of stages (pre_tokenizer).
#pragma once
#include <cstddef>
#include <optional>
#include <string_view>

namespace tril {

enum class SplitPattern {
  kWhole,         // no cut: the text is one piece
  kGpt2,          // GPT-2, and Hugging Face's ByteLevel with use_regex
  kGpt4,          // GPT-4 (cl100k) as published and as tokenizer.json files have it
  kGpt4Tiktoken,  // the same as tiktoken writes it today: blanks at the end of the text are one piece
  kQwen2,         // GPT-4's with single digits
  kDigits,        // each number character alone, everything else together
  kDigitRuns,     // runs of number characters, runs of everything else
};

/// The next piece of a text.
struct Piece {
  size_t end;         // one past its last byte; always above its begin
  bool open;          // the end of the text was looked at: with more text behind, this piece might be another
  bool drop = false;  // the piece is cut out and gets no token
};

/// The piece of `text` that starts at `begin` < text.size(). Letters are general categories L*, numbers N*,
/// blanks White_Space; a byte that is not UTF-8 acts as U+FFFD does (neither letter nor number nor blank).
Piece next_piece(SplitPattern pattern, std::string_view text, size_t begin);

/// The regular expression of a pattern; "" for kWhole, kDigits and kDigitRuns, which are no single
/// expression.
std::string_view pattern_source(SplitPattern pattern);

/// GPT-4o's expression (o200k), which PCRE2 runs.
inline constexpr std::string_view kO200kSource =
    R"([^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?)"
    R"(|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?)"
    R"(|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+)";

/// The pattern that an expression found in a file is, where it is one of those written by hand.
std::optional<SplitPattern> known_pattern(std::string_view source);

}  // namespace tril
