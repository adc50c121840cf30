// Commands of this program as the user would type them, for what an error or a note suggests. What it leaves
// out: running them.
#pragma once
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace tril {

/// How the user called this program: "tril", or what the wrapper that started it was typed as (TRIL_COMMAND).
std::string program_as_typed();

/// A word as a POSIX shell reads it back: itself, or in quotes.
std::string shell_word(std::string_view word);

/// typed({"resume", "my run"}) is "./tril resume 'my run'".
std::string typed(std::initializer_list<std::string_view> words);
std::string typed(const std::vector<std::string>& words);

}  // namespace tril
