// Opening what may wait for its writer, and reading what has no size beforehand (a pipe, a terminal) up to a
// limit. What it leaves out: files (file.h).
#pragma once
#include <cstdint>
#include <string>

namespace tril {

/// Opens a file to read it; a descriptor, or -1 with errno set. A named pipe waits for its writer: that is
/// said in a note before.
int open_to_read(const std::string& path);

/// All that `descriptor` brings until it ends. Throws Refusal that names `name` where reading fails, or where
/// over `most` bytes come; 0: a quarter of the machine's memory.
std::string read_stream(int descriptor, const std::string& name, int64_t most = 0);

}  // namespace tril
