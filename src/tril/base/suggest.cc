#include "tril/base/suggest.h"

#include <algorithm>

namespace tril {
namespace {

// The shortest known name that begins with `word`; "" for none.
std::string completion(std::string_view word, std::span<const std::string> known) {
  constexpr size_t kShortest = 3;
  if (word.size() - std::min(word.find_first_not_of('-'), word.size()) < kShortest) return "";
  std::string found;
  for (const std::string& name : known)
    if (name.starts_with(word) && (found.empty() || name.size() < found.size())) found = name;
  return found;
}

}  // namespace

// Optimal string alignment: Levenshtein's table with one more move for two swapped neighbours.
int edit_distance(std::string_view a, std::string_view b) {
  const size_t n = a.size(), m = b.size();
  std::vector<std::vector<int>> d(n + 1, std::vector<int>(m + 1));
  for (size_t i = 0; i <= n; ++i) d[i][0] = static_cast<int>(i);
  for (size_t j = 0; j <= m; ++j) d[0][j] = static_cast<int>(j);
  for (size_t i = 1; i <= n; ++i) {
    for (size_t j = 1; j <= m; ++j) {
      const int change = a[i - 1] == b[j - 1] ? 0 : 1;
      d[i][j] = std::min({d[i - 1][j] + 1, d[i][j - 1] + 1, d[i - 1][j - 1] + change});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        d[i][j] = std::min(d[i][j], d[i - 2][j - 2] + 1);
    }
  }
  return d[n][m];
}

std::string nearest_name(std::string_view word, std::span<const std::string> known) {
  const std::string_view head = word.substr(0, 64);  // a name is short; a pasted page is not compared whole
  std::string best;
  int best_distance = 0;
  for (const std::string& name : known) {
    const int distance = edit_distance(head, name);
    if (best.empty() || distance < best_distance) {
      best = name;
      best_distance = distance;
    }
  }
  return best;
}

std::string near_name(std::string_view word, std::span<const std::string> known) {
  if (word.empty()) return "";
  if (std::string name = completion(word, known); !name.empty()) return name;
  std::string name = nearest_name(word, known);
  const int limit = std::max<int>(2, static_cast<int>(std::min<size_t>(word.size(), 64)) / 2);
  if (name.empty() || edit_distance(word.substr(0, 64), name) > limit) return "";
  return name;
}

std::string nearest_hint(std::string_view word, std::span<const std::string> known) {
  const std::string name = near_name(word, known);
  return name.empty() ? "" : "; the nearest is '" + name + "'";
}

}  // namespace tril
