// Normal form of text for word tokens: one spelling for what a reader sees as one text.
//   NFKC → full lower case → NFKC → each run of White_Space one space, none at the ends
// Lower case is the full mapping without context: İ gives i and a dot above, Σ gives σ also at a word's end.
// The second NFKC puts the marks that lower-casing brought into order, so that normalizing twice changes
// nothing. It leaves out default-ignorable characters (joiners stay) and anything that depends on a language.
#pragma once
#include <string>
#include <string_view>

namespace tril {

/// `text` must be valid UTF-8 (utf8.h); an invalid byte would come out as U+FFFD. Time is linear in the text
/// but for the sorting of long runs of combining marks.
std::string normalize(std::string_view text);

/// The same into `out`, whose memory is used again.
void normalize_into(std::string_view text, std::string& out);

}  // namespace tril
