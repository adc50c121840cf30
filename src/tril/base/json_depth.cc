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

void require_parsable(std::string_view json, const std::string& name) {
  if (const size_t zero = json.find('\0'); zero != json.npos)
    refuse("{}: byte {}: a zero byte, which JSON has not", name, zero);
  if (json_depth(json) > kDeepestJson) refuse("{}: is nested more than {} levels deep", name, kDeepestJson);
}

}  // namespace tril
