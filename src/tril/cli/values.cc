// Named values as text and as JSON.
#include "tril/cli/values.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

#include "tril/base/log.h"
#include "tril/base/quote.h"
#include "tril/base/table.h"
#include "tril/cli/output.h"

namespace tril::cli {
namespace {

constexpr int64_t kMostTokens = 12;   // of longer texts the last ones
constexpr int64_t kMostColumns = 12;  // wider rows are shortened
constexpr int64_t kFirstColumns = 6;  // to so many, and the row's least and largest

const std::map<std::string, std::string, std::less<>> kAbout = {
    {"X", "the row that stands for each token"},
    {"W_Q", "turns a row into a question: Q = X W_Q"},
    {"W_K", "turns a row into an offer: K = X W_K"},
    {"W_V", "turns a row into what it hands over: V = X W_V"},
    {"W_O", "turns what comes back into a row as wide as X"},
    {"Q", "what each token asks for"},
    {"K", "what each token offers"},
    {"V", "what each token hands over"},
    {"scores", "how well each question (row) meets each offer (column)"},
    {"masked_scores", "the same, with what may not be seen at -inf"},
    {"weights", "softmax of each row: where a token looks; each row sums to 1"},
    {"messages", "what comes back: the rows of V, mixed by the weights"},
    {"updates", "the messages after W_O, as wide as X again"},
    {"contextual", "the update added to where it came from"},
    {"hidden", "the hidden layer, after its activation"},
    {"output", "the hidden layer's answer, added"},
    {"final", "the rows that the last layer reads"},
    {"logits", "a number for every token of the vocabulary"},
};

// "blocks.0.masked_scores" is a masked_scores too.
std::string last_part(const std::string& name) {
  return name.substr(name.rfind('.') + 1);
}

bool columns_are_tokens(const std::string& name) {
  const std::string last = last_part(name);
  return last == "weights" || last == "scores" || last == "masked_scores";
}

std::string number(double value) {
  if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
  return fmt::format("{:.3f}", value == 0 ? 0.0 : value);  // no "-0.000" for a true zero
}

std::string title(const std::string& name, const Shape& shape) {
  const auto about = kAbout.find(last_part(name));
  return name + " " + shape.text() + (about == kAbout.end() ? "" : ": " + about->second) + "\n";
}

// Where the matrix's columns begin and end, and whether rows are shortened behind them.
struct Columns {
  int64_t begin, end;
  bool shortened;
};

Columns columns_of(const std::string& name, int64_t width, const RowNames& names) {
  const auto tokens = static_cast<int64_t>(names.tokens.size());
  if (columns_are_tokens(name) && width == tokens) {
    const int64_t end = width - names.filling;
    return {std::max(names.padding, end - kMostTokens), end, false};
  }
  if (width <= kMostColumns) return {0, width, false};
  return {0, kFirstColumns, true};
}

std::vector<std::string> header(const std::string& name, Columns columns, const RowNames& names) {
  std::vector<std::string> cells = {""};
  const bool tokens =
      columns_are_tokens(name) && static_cast<size_t>(columns.end + names.filling) == names.tokens.size();
  for (int64_t c = columns.begin; c < columns.end; ++c)
    cells.push_back(tokens ? token_label(names.tokens[static_cast<size_t>(c)]) : std::to_string(c));
  if (columns.shortened) cells.insert(cells.end(), {"...", "least", "largest"});
  return cells;
}

std::string matrix_text(const std::string& name, std::span<const double> data, int64_t height,
                        const RowNames& names) {
  const int64_t width = static_cast<int64_t>(data.size()) / height;
  const bool rows_are_tokens = static_cast<size_t>(height) == names.tokens.size();
  const int64_t end = height - (rows_are_tokens ? names.filling : 0);
  const int64_t first = std::max(rows_are_tokens ? names.padding : 0, end - kMostTokens);
  const Columns columns = columns_of(name, width, names);
  Table table(header(name, columns, names));
  for (int64_t r = first; r < end; ++r) {
    const std::span<const double> row =
        data.subspan(static_cast<size_t>(r * width), static_cast<size_t>(width));
    std::vector<std::string> cells = {rows_are_tokens ? token_label(names.tokens[static_cast<size_t>(r)])
                                      : height == 1   ? "next"
                                                      : std::to_string(r)};
    for (int64_t c = columns.begin; c < columns.end; ++c)
      cells.push_back(number(row[static_cast<size_t>(c)]));
    if (columns.shortened) {
      const auto [least, largest] = std::minmax_element(row.begin(), row.end());
      cells.insert(cells.end(), {"", number(*least), number(*largest)});
    }
    table.row(std::move(cells));
  }
  std::string text;
  const int64_t left_out = first - (rows_are_tokens ? names.padding : 0);
  if (left_out > 0) text += fmt::format("  (the last {} of {} rows)\n", end - first, end);
  return text + table.text();
}

// "text 2, head 1", of which there are `matrices` in all.
std::string matrix_name(int64_t index, int64_t matrices, int64_t texts, bool heads) {
  const int64_t each = matrices / texts;
  std::string text = texts > 1 ? fmt::format("text {}", index / each + 1) : "";
  if (heads && each > 1) text += fmt::format("{}head {}", text.empty() ? "" : ", ", index % each + 1);
  return text.empty() ? "" : "  " + text + "\n";
}

}  // namespace

nlohmann::ordered_json value_json(const std::string& name, const Shape& shape, std::span<const double> data) {
  auto sizes = nlohmann::ordered_json::array(), numbers = nlohmann::ordered_json::array();
  for (int i = 0; i < shape.rank(); ++i) sizes.push_back(shape[i]);
  const bool masked = last_part(name) == "masked_scores";
  for (const double value : data) {
    if (masked && std::isinf(value) && value < 0)
      numbers.push_back("-Infinity");
    else
      numbers.push_back(value);
  }
  return {{"shape", std::move(sizes)}, {"data", std::move(numbers)}};
}

nlohmann::ordered_json checks_json(const std::vector<CheckRow>& checks) {
  auto all = nlohmann::ordered_json::array();
  for (const CheckRow& row : checks)
    all.push_back({{"name", row.name},
                   {"passed", row.passed},
                   {"value", row.value},
                   {"limit", row.limit},
                   {"what", row.subject.empty() ? row.what : row.what + "; " + row.subject}});
  return all;
}

std::string value_text(const std::string& name, const Shape& shape, std::span<const double> data,
                       std::span<const RowNames> texts) {
  std::string text = title(name, shape);
  const int64_t height = shape.rank() >= 2 ? shape[shape.rank() - 2] : 1, size = height * shape.cols();
  if (size == 0 || data.empty()) return text;
  const auto matrices = static_cast<int64_t>(data.size()) / size, many = static_cast<int64_t>(texts.size());
  for (int64_t m = 0; m < matrices; ++m) {
    const bool of_texts = many > 0 && matrices % many == 0;
    text += matrix_name(m, matrices, of_texts ? many : 1, columns_are_tokens(name));
    text += matrix_text(name, data.subspan(static_cast<size_t>(m * size), static_cast<size_t>(size)), height,
                        of_texts ? texts[static_cast<size_t>(m / (matrices / many))] : RowNames{});
  }
  return text;
}

std::string token_label(const std::string& token) {
  const bool plain = !token.empty() && std::all_of(token.begin(), token.end(),
                                                   [](unsigned char c) { return c > 0x20 && c != 0x7f; });
  return plain ? token : in_quotes(token);
}

std::string route_text(Route route, const std::vector<std::string>& stages) {
  const std::vector<size_t> lit = find_stages(route, stages);
  return draw_route(route, lit,
                    {.unicode = utf8_locale(), .colour = log::fancy(STDOUT_FILENO), .width = 100});
}

}  // namespace tril::cli
