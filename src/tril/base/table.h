// A table of text for the terminal: columns as wide as their widest cell, numbers to the right.
// What it leaves out: borders, colours, wrapping.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace tril {

class Table {
 public:
  explicit Table(std::vector<std::string> header) : header_(std::move(header)) {}
  /// A row; missing cells are empty.
  void row(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }
  /// Lines that end in '\n', without blanks at their ends. A column whose cells all begin with a digit, a
  /// sign or nothing, or are infinite, is set to the right. Widths count code points of UTF-8.
  std::string text() const;

 private:
  std::vector<std::string> header_;
  std::vector<std::vector<std::string>> rows_;
};

/// "1,234,567".
std::string with_commas(long long value);
/// "1 document", "1,300 documents"; `noun` is the singular.
std::string counted(long long count, std::string_view noun);

}  // namespace tril
