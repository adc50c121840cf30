// Named values as text and as JSON.
#include "tril/cli/values.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "tril/base/log.h"
#include "tril/base/route.h"
#include "tril/base/table.h"
#include "tril/cli/output.h"

namespace tril::cli {
namespace {

// "blocks.0.masked_scores" is a masked_scores too.
bool is_masked_scores(const std::string& name) {
  return name.substr(name.rfind('.') + 1) == "masked_scores";
}

std::string number(double value) {
  if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
  return fmt::format("{:.3f}", value == 0 ? 0.0 : value);  // no "-0.000" for a true zero
}

constexpr int64_t kShownColumns = 16;  // of a wide row the first ones; --json has all

std::vector<std::string> header(int64_t width, std::span<const std::string> columns) {
  std::vector<std::string> cells = {""};
  for (int64_t c = 0; c < width; ++c)
    cells.push_back(static_cast<size_t>(c) < columns.size() ? columns[static_cast<size_t>(c)]
                                                            : std::to_string(c));
  return cells;
}

}  // namespace

nlohmann::ordered_json value_json(const std::string& name, const Shape& shape, std::span<const double> data) {
  auto sizes = nlohmann::ordered_json::array(), numbers = nlohmann::ordered_json::array();
  for (int i = 0; i < shape.rank(); ++i) sizes.push_back(shape[i]);
  const bool masked = is_masked_scores(name);
  for (const double value : data) {
    if (masked && std::isinf(value) && value < 0)
      numbers.push_back("-Infinity");
    else
      numbers.push_back(value);
  }
  return {{"shape", std::move(sizes)}, {"data", std::move(numbers)}};
}

std::string value_text(const std::string& name, const Shape& shape, std::span<const double> data,
                       std::span<const std::string> rows, std::span<const std::string> columns) {
  std::string text = name + " " + shape.text();
  if (shape.cols() > kShownColumns)
    text += fmt::format(", the first {} of {} columns", kShownColumns, shape.cols());
  text += "\n";
  const int64_t width = shape.cols(), height = shape.rank() >= 2 ? shape[shape.rank() - 2] : 1;
  if (width == 0 || height == 0) return text;
  const int64_t matrices = shape.count() / (width * height);
  for (int64_t m = 0; m < matrices; ++m) {
    const int64_t shown = width > kShownColumns ? kShownColumns : width;
    Table table(header(shown, columns));
    for (int64_t r = 0; r < height; ++r) {
      std::vector<std::string> cells = {static_cast<size_t>(r) < rows.size() ? rows[static_cast<size_t>(r)]
                                                                             : std::to_string(r)};
      for (int64_t c = 0; c < shown; ++c)
        cells.push_back(number(data[static_cast<size_t>((m * height + r) * width + c)]));
      table.row(std::move(cells));
    }
    if (matrices > 1) text += fmt::format("  [{}]\n", m);
    text += table.text();
  }
  return text;
}

std::string route_text(Route route, const std::vector<std::string>& stages) {
  const std::vector<size_t> lit = find_stages(route, stages);
  return draw_route(route, lit,
                    {.unicode = utf8_locale(), .colour = log::fancy(STDOUT_FILENO), .width = 100});
}

}  // namespace tril::cli
