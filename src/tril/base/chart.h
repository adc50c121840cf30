// A chart in text: series of (x, y) over axes, with level lines (baselines) and a legend. Unicode (braille
// dots for the lines between points) or plain ASCII. What it leaves out: colours, logarithmic axes, more than
// one line style.
#pragma once
#include <string>
#include <utility>
#include <vector>

namespace tril {

struct ChartSeries {
  std::string name;
  std::vector<std::pair<double, double>>
      points;  // by rising x; points with a NaN or an infinity are left out
};

/// A horizontal line at y across the chart.
struct ChartLevel {
  std::string name;
  double y;
};

struct ChartOptions {
  std::string title, x_label;
  int width = 76;   // columns in all, 30 at least
  int height = 14;  // rows of the plot, 4 at least
  bool unicode = false;
};

/// Lines that end in '\n'. Each series has its mark; one with many points is drawn as a line alone, one with
/// few has its mark at each point and dots between them. No finite point at all gives a chart that says so.
std::string chart(const std::vector<ChartSeries>& series, const std::vector<ChartLevel>& levels,
                  const ChartOptions& options);

/// True where braille and box characters show on file descriptor `fd`: a terminal that log::fancy accepts,
/// and a locale of the environment (LC_ALL, else LC_CTYPE, else LANG) that names UTF-8.
bool unicode_terminal(int fd);

}  // namespace tril
