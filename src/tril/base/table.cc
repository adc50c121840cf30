// Tables of text.
#include "tril/base/table.h"

#include <algorithm>
#include <cctype>

namespace tril {
namespace {

size_t code_points(const std::string& text) {
  return static_cast<size_t>(std::count_if(
      text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

bool numeric(const std::string& cell) {
  if (cell.empty() || cell == "-" || cell == "inf" || cell == "-inf") return true;
  const bool sign = cell[0] == '-' || cell[0] == '+';
  return cell.size() > (sign ? 1 : 0) && std::isdigit(static_cast<unsigned char>(cell[sign ? 1 : 0])) != 0;
}

}  // namespace

std::string Table::text() const {
  std::vector<std::vector<std::string>> lines = {header_};
  lines.insert(lines.end(), rows_.begin(), rows_.end());
  std::vector<size_t> widths(header_.size());
  std::vector<bool> right(header_.size(), true);
  for (size_t r = 0; r < lines.size(); ++r) {
    lines[r].resize(header_.size());
    for (size_t c = 0; c < header_.size(); ++c) {
      widths[c] = std::max(widths[c], code_points(lines[r][c]));
      if (r > 0 && !numeric(lines[r][c])) right[c] = false;
    }
  }
  std::string all;
  for (const auto& line : lines) {
    for (size_t c = 0; c < line.size(); ++c) {
      const std::string pad(widths[c] - code_points(line[c]), ' ');
      all += c > 0 ? "  " : "";
      all += right[c] ? pad + line[c] : line[c] + pad;
    }
    all.erase(all.find_last_not_of(' ') + 1);
    all += '\n';
  }
  return all;
}

std::string with_commas(long long value) {
  std::string digits = std::to_string(value);
  const size_t first = digits[0] == '-' ? 1 : 0;
  for (size_t at = digits.size(); at > first + 3; at -= 3) digits.insert(at - 3, 1, ',');
  return digits;
}

std::string counted(long long count, std::string_view noun) {
  return with_commas(count) + ' ' + std::string(noun) + (count == 1 ? "" : "s");
}

}  // namespace tril
