// Reading what has no size beforehand (a pipe, a terminal) up to a limit. What it leaves out: files (file.h).
#pragma once
#include <cstdint>
#include <string>

namespace tril {

/// All that `descriptor` brings until it ends. Throws Refusal that names `name` where reading fails, or where
/// over `most` bytes come; 0: a quarter of the machine's memory.
std::string read_stream(int descriptor, const std::string& name, int64_t most = 0);

}  // namespace tril
