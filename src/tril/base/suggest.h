// "Did you mean": the nearest of the known names.
#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tril {

/// Edit distance (insert, delete, replace, swap of neighbours), in bytes.
int edit_distance(std::string_view a, std::string_view b);

/// The known name nearest to `word` (lowest distance, then first in the list), or "" for an empty list.
std::string nearest_name(std::string_view word, std::span<const std::string> known);

/// The shortest known name that begins with `word` (of 3 letters or more), else the nearest, or "" where that
/// is farther than half the word's length (2 for short words). "" is near none.
std::string near_name(std::string_view word, std::span<const std::string> known);

/// "; the nearest is 'heads'", of near_name; "" where there is none.
std::string nearest_hint(std::string_view word, std::span<const std::string> known);

}  // namespace tril
