// How deep a JSON text nests, told before it is parsed: a parser that builds values needs little of the
// stack, but to copy, compare or print such a value takes some of it for each level. What it leaves out:
// whether the text is JSON.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>

namespace tril {

/// Far beyond any file that a program writes, far below what a stack holds.
inline constexpr size_t kDeepestJson = 200;

/// The most objects and lists that are open at one place; brackets within a JSON text's strings don't count.
size_t json_depth(std::string_view json);

/// Throws Refusal that begins with `name` where the depth is above kDeepestJson, or where a zero byte stands
/// in the text: the parser takes that for the end, and whatever follows would go unread.
void require_parsable(std::string_view json, const std::string& name);

}  // namespace tril
