// Standard output: results, as text or as one JSON document. What it leaves out: notes and warnings
// (base/log.h).
#pragma once
#include <nlohmann/json_fwd.hpp>
#include <string_view>

namespace tril::cli {

/// Thrown by print where the reader of a pipe has gone; the frame ends the program quietly.
struct OutputClosed {};

/// Writes to standard output. Throws OutputClosed for a closed pipe, Refusal for any other fault (a full
/// disk).
void print(std::string_view text);
/// Hands on what is still held back; throws as print does.
void flush();

/// One JSON document on a line of its own. NaN and infinities are null; bytes that are not UTF-8 become
/// U+FFFD.
void print_json(const nlohmann::ordered_json& document);

/// True where the environment's locale is UTF-8, so that arrows and the like can be shown on a terminal.
bool utf8_locale();

}  // namespace tril::cli
