// Words in one text, a comma between them. What it leaves out: quotes, so that no word holds a comma.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace tril {

/// "a, b" is {"a", "b"}: blanks around a word are none of it, blanks within are. Words may be empty: "a,,b"
/// has three. "" has none.
std::vector<std::string> comma_list(std::string_view text);

}  // namespace tril
