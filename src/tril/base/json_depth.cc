#include "tril/base/json_depth.h"

#include <algorithm>

#include "tril/base/error.h"

namespace tril {

size_t json_depth(std::string_view json) {
  size_t depth = 0, deepest = 0;
  bool quoted = false;
  for (size_t at = 0; at < json.size(); ++at) {
    const char c = json[at];
    if (c == '"') {
      quoted = !quoted;
    } else if (quoted) {
      at += c == '\\' ? 1 : 0;  // whatever follows it
    } else if (c == '[' || c == '{') {
      deepest = std::max(deepest, ++depth);
    } else if ((c == ']' || c == '}') && depth > 0) {
      --depth;
    }
  }
  return deepest;
}

void require_shallow(std::string_view json, const std::string& name) {
  if (json_depth(json) > kDeepestJson) refuse("{}: is nested more than {} levels deep", name, kDeepestJson);
}

}  // namespace tril
