// One text, of a file or of standard input, held to the rules of every source (source.h). What it leaves out:
// folders, records, documents.
#pragma once
#include <string>

#include "tril/data/source.h"

namespace tril {

/// The text of a file, or of standard input for "-". Notes and warnings are printed. `any_bytes`: bytes that
/// are no UTF-8 are kept. Throws Refusal as open_source.
std::string read_text(const std::string& path, bool any_bytes);

/// Prints a source's notes and warnings.
void announce(const Source& source);

}  // namespace tril
