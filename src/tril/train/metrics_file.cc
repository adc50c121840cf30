#include "tril/train/metrics_file.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "tril/base/log.h"
#include "tril/base/table.h"

namespace tril {
namespace {

int64_t count_lines(std::string_view text) {
  return std::count(text.begin(), text.end(), '\n');
}

std::string lines_text(int64_t count) {
  return with_commas(count) + (count == 1 ? " line" : " lines");
}

}  // namespace

std::optional<int64_t> metrics_step(std::string_view line) {
  const auto parsed = nlohmann::json::parse(line, nullptr, false);
  if (!parsed.is_object()) return std::nullopt;
  const auto step = parsed.find("step");
  if (step == parsed.end() || !step->is_number_integer()) return std::nullopt;
  return step->get<int64_t>();
}

MetricsFile::MetricsFile(const std::string& path) : path_(path), file_(path) {
  const std::string text = read_file(path);
  hash_.add(text);
  lines_ = count_lines(text);
}

void MetricsFile::append(std::string_view line) {
  file_.append(line);
  hash_.add(line);
  hash_.add("\n");
  ++lines_;
}

MetricsMark MetricsFile::mark() const {
  return {lines_, to_hex(hash_.so_far())};
}

void MetricsFile::cut_back(int64_t step, const std::optional<MetricsMark>& expected) {
  const std::string text = read_file(path_);
  const std::string_view all = text;
  size_t kept = 0;
  bool foreign = false;  // the first line that is dropped is no metrics line
  while (kept < text.size()) {
    const size_t end = text.find('\n', kept);
    const std::optional<int64_t> line_step = metrics_step(all.substr(kept, end - kept));
    foreign = !line_step;
    if (!line_step || *line_step > step) break;
    kept = end + 1;
  }
  const int64_t before = lines_;
  lines_ = count_lines(all.substr(0, kept));
  hash_ = Sha256();
  hash_.add(all.substr(0, kept));
  if (kept != file_.size()) file_.cut(kept);
  file_.flush();
  if (foreign)
    log::warn("{}: line {} is no metrics line; it and all after it are dropped, {} in all", path_, lines_ + 1,
              lines_text(before - lines_));
  else if (before > lines_)
    log::warn("{}: {} after step {} dropped; those steps are computed again", path_,
              lines_text(before - lines_), std::max<int64_t>(step, 0));
  if (expected) warn_of_difference(step, *expected);
}

void MetricsFile::warn_of_difference(int64_t step, const MetricsMark& expected) const {
  const MetricsMark found = mark();
  if (found.lines != expected.lines)
    log::warn(
        "{}: has {} up to step {}, and {} when that step's checkpoint was written: it was changed since",
        path_, lines_text(found.lines), step, with_commas(expected.lines));
  else if (found.sha256 != expected.sha256)
    log::warn(
        "{}: its {} up to step {} are not those that were there when that step's checkpoint was written",
        path_, lines_text(found.lines), step);
}

}  // namespace tril
