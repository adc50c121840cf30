// Showing names that come from a file: as they are where they are plain, escaped where they could spoil a
// terminal.
#pragma once
#include <string>
#include <string_view>

namespace tril {

/// Control characters and backslashes as \n, \x1b …; the rest as it is.
std::string escaped(std::string_view text);
/// 'name' in single quotes; escaped; cut after 80 bytes (at a
/// character's border) with … and the length.
std::string in_quotes(std::string_view name);

}  // namespace tril
