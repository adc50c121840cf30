#include "tril/base/chart.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string_view>

#include "tril/base/log.h"
#include "tril/base/progress.h"

namespace tril {
namespace {

struct Style {
  std::vector<std::string_view> marks;  // of the series, by turns
  std::string_view level, corner, across, down, y_tick, x_tick;
};
const Style& style(bool unicode) {
  static const Style plain = {{"*", "o", "+", "x", "#", "@"}, "-", "+", "-", "|", "+", "+"};
  static const Style fine = {{"●", "○", "▲", "△", "■", "□"}, "╌", "└", "─", "│", "┤", "┬"};
  return unicode ? fine : plain;
}

struct Range {
  double low, high;
  void include(double value) {
    low = std::min(low, value);
    high = std::max(high, value);
  }
};

/// The plot's area: cells, each with the mark drawn there or up to 2×4 dots.
class Canvas {
 public:
  Canvas(int width, int height, Range x, Range y, bool unicode)
      : width_(width), height_(height), x_(x), y_(y), unicode_(unicode), marks_(cells()), dots_(cells(), 0) {}

  int column(double x) const { return scale(x, x_, width_); }
  int row(double y) const { return height_ - 1 - scale(y, y_, height_); }

  void mark(double x, double y, std::string_view mark) { marks_[cell(column(x), row(y))] = mark; }

  void level(double y, std::string_view mark) {
    for (int c = 0; c < width_; ++c)
      if (marks_[cell(c, row(y))].empty()) marks_[cell(c, row(y))] = mark;
  }

  /// Dots from one point to the next; finer than a cell in Unicode, one for each column in ASCII.
  void line(std::pair<double, double> from, std::pair<double, double> to) {
    const int across = unicode_ ? 2 : 1, up = unicode_ ? 4 : 1;
    const int x0 = scale(from.first, x_, width_ * across), x1 = scale(to.first, x_, width_ * across);
    const int y0 = scale(from.second, y_, height_ * up), y1 = scale(to.second, y_, height_ * up);
    const int steps = std::max({std::abs(x1 - x0), unicode_ ? std::abs(y1 - y0) : 0, 1});
    for (int i = 0; i <= steps; ++i) {
      const double t = static_cast<double>(i) / steps;
      const int x = x0 + static_cast<int>(std::lround(t * (x1 - x0)));
      const int y = height_ * up - 1 - (y0 + static_cast<int>(std::lround(t * (y1 - y0))));
      dots_[cell(x / across, y / up)] |= unicode_ ? dot(x % 2, y % 4) : uint8_t{1};
    }
  }

  std::string text(int row) const {
    std::string line;
    for (int c = 0; c < width_; ++c) {
      const size_t at = cell(c, row);
      if (!marks_[at].empty()) {
        line += marks_[at];
      } else if (dots_[at] == 0) {
        line += ' ';
      } else {
        line += unicode_ ? braille(dots_[at]) : ".";
      }
    }
    line.erase(line.find_last_not_of(' ') + 1);
    return line;
  }

 private:
  size_t cells() const { return static_cast<size_t>(width_) * static_cast<size_t>(height_); }
  size_t cell(int column, int row) const {
    return static_cast<size_t>(row) * static_cast<size_t>(width_) + static_cast<size_t>(column);
  }
  static int scale(double value, Range range, int cells) {
    const double share = (value - range.low) / (range.high - range.low);
    return std::clamp(static_cast<int>(std::lround(share * (cells - 1))), 0, cells - 1);
  }
  /// Bits of U+2800: dots 1-3 and 7 down the left column, 4-6 and 8 down the right one.
  static uint8_t dot(int x, int y) {
    if (y == 3) return static_cast<uint8_t>(x == 0 ? 0x40 : 0x80);
    return static_cast<uint8_t>(1 << (y + 3 * x));
  }
  static std::string braille(uint8_t bits) {
    return {'\xE2', static_cast<char>(0xA0 | (bits >> 6)), static_cast<char>(0x80 | (bits & 0x3F))};
  }

  int width_, height_;
  Range x_, y_;
  bool unicode_;
  std::vector<std::string_view> marks_;
  std::vector<uint8_t> dots_;
};

std::vector<ChartSeries> finite(const std::vector<ChartSeries>& series) {
  std::vector<ChartSeries> kept = series;
  for (ChartSeries& one : kept)
    std::erase_if(one.points, [](auto& p) { return !std::isfinite(p.first) || !std::isfinite(p.second); });
  return kept;
}

/// 1, 2 or 5 times a power of ten: about `count` steps over the range.
double nice_step(Range range, int count) {
  const double raw = (range.high - range.low) / count;
  const double power = std::pow(10, std::floor(std::log10(raw)));
  for (const double factor : {1.0, 2.0, 5.0})
    if (raw <= factor * power) return factor * power;
  return 10 * power;
}

std::string y_text(double value, double step) {
  const int digits = std::clamp(static_cast<int>(-std::floor(std::log10(step))), 0, 9);
  return fmt::format("{:.{}f}", value == 0 ? 0.0 : value, digits);
}

/// The first multiple of `step` within the range.
double first_tick(Range range, double step) {
  return std::ceil(range.low / step - 1e-9) * step + 0.0;  // + 0 makes -0 a plain 0
}

std::string x_axis(const Canvas& canvas, Range x, int width, size_t margin, const ChartOptions& options) {
  const Style& draw = style(options.unicode);
  std::vector<std::string_view> rule(static_cast<size_t>(width), draw.across);
  std::string labels(static_cast<size_t>(width) + 8, ' ');
  size_t free = 0;  // labels never touch
  const double step = nice_step(x, 5);
  for (double tick = first_tick(x, step); tick <= x.high + 1e-9 * step; tick += step) {
    const auto at = static_cast<size_t>(canvas.column(tick));
    rule[at] = draw.x_tick;
    std::string word = step < 1 ? y_text(tick, step) : short_count(tick);
    if (const size_t zero = word.find(".0"); step >= 1 && zero != std::string::npos) word.erase(zero, 2);
    const size_t begin = at >= word.size() / 2 ? at - word.size() / 2 : 0;
    if (begin < free || begin + word.size() > labels.size()) continue;
    labels.replace(begin, word.size(), word);
    free = begin + word.size() + 1;
  }
  std::string text = std::string(margin, ' ') + std::string(draw.corner);
  for (const std::string_view piece : rule) text += piece;
  labels.erase(labels.find_last_not_of(' ') + 1);
  text += '\n' + std::string(margin + 1, ' ') + labels;
  if (!options.x_label.empty()) text += "  " + options.x_label;
  return text + '\n';
}

void draw_series(Canvas& canvas, const ChartSeries& series, std::string_view mark, int width, bool unicode) {
  const std::vector<std::pair<double, double>>& points = series.points;
  const bool dense = points.size() * 3 > static_cast<size_t>(width);
  for (size_t i = 0; i + 1 < points.size(); ++i) canvas.line(points[i], points[i + 1]);
  if (dense && unicode) return;
  for (const auto& [x, y] : points) canvas.mark(x, y, mark);
}

// Entries side by side, on further lines where the chart's width is full.
std::string legend(const std::vector<ChartSeries>& series, const std::vector<ChartLevel>& levels, int width,
                   const ChartOptions& options) {
  const Style& draw = style(options.unicode);
  std::vector<std::string> entries;
  for (size_t i = 0; i < series.size(); ++i) {
    const bool dense = options.unicode && series[i].points.size() * 3 > static_cast<size_t>(width);
    entries.push_back(fmt::format("{} {}", dense ? "⠒" : draw.marks[i % draw.marks.size()], series[i].name));
  }
  for (const ChartLevel& level : levels)
    entries.push_back(fmt::format("{} {} {:.3f}", draw.level, level.name, level.y));
  std::string text;
  size_t columns = 0;  // of the last line
  for (const std::string& entry : entries) {
    const auto wide = static_cast<size_t>(std::count_if(
        entry.begin(), entry.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
    if (columns > 0 && columns + 3 + wide > static_cast<size_t>(options.width)) {
      text += '\n';
      columns = 0;
    }
    text += (columns > 0 ? "   " : "") + entry;
    columns += (columns > 0 ? 3 : 0) + wide;
  }
  return text;
}

}  // namespace

std::string chart(const std::vector<ChartSeries>& given, const std::vector<ChartLevel>& given_levels,
                  const ChartOptions& options) {
  const std::vector<ChartSeries> series = finite(given);
  std::vector<ChartLevel> levels = given_levels;
  std::erase_if(levels, [](const ChartLevel& level) { return !std::isfinite(level.y); });
  std::optional<Range> x, y;
  for (const ChartSeries& one : series)
    for (const auto& [px, py] : one.points) {
      (x ? *x : x.emplace(Range{px, px})).include(px);
      (y ? *y : y.emplace(Range{py, py})).include(py);
    }
  const std::string title = options.title.empty() ? "" : options.title + '\n';
  if (!x) return title + "(no points to draw)\n";
  for (const ChartLevel& level : levels) y->include(level.y);
  for (Range* range : {&*x, &*y})  // a single value still needs an axis
    if (range->high - range->low < 1e-9 * std::max(1.0, std::fabs(range->low)))
      *range = {range->low - 1, range->high + 1};

  const int height = std::max(options.height, 4);
  const double y_step = nice_step(*y, std::min(8, height / 2));
  size_t margin = 0;
  for (double tick = first_tick(*y, y_step); tick <= y->high + 1e-9 * y_step; tick += y_step)
    margin = std::max(margin, y_text(tick, y_step).size() + 1);
  const int width = std::max(options.width, 30) - static_cast<int>(margin) - 1;
  const Style& draw = style(options.unicode);
  Canvas canvas(width, height, *x, *y, options.unicode);
  for (size_t i = 0; i < series.size(); ++i)
    draw_series(canvas, series[i], draw.marks[i % draw.marks.size()], width, options.unicode);
  for (const ChartLevel& level : levels) canvas.level(level.y, draw.level);

  std::vector<std::string> labels(static_cast<size_t>(height));
  for (double tick = first_tick(*y, y_step); tick <= y->high + 1e-9 * y_step; tick += y_step)
    labels[static_cast<size_t>(canvas.row(tick))] = y_text(tick, y_step);
  std::string text = title;
  for (int row = 0; row < height; ++row) {
    const std::string& label = labels[static_cast<size_t>(row)];
    text += fmt::format("{:>{}} {}{}\n", label, margin - 1, label.empty() ? draw.down : draw.y_tick,
                        canvas.text(row));
  }
  text += x_axis(canvas, *x, width, margin, options);
  return text + legend(series, levels, width, options) + '\n';
}

bool unicode_terminal(int fd) {
  if (!log::fancy(fd)) return false;
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    const char* value = std::getenv(name);
    if (value == nullptr || *value == '\0') continue;
    std::string locale(value);
    for (char& c : locale)
      if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    return locale.find("utf-8") != std::string::npos || locale.find("utf8") != std::string::npos;
  }
  return false;
}

}  // namespace tril
