// Named values and checks for a reader and for other programs: what check, demo and trace print.
// What it leaves out: computing them.
#pragma once
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <vector>

#include "tril/base/route.h"
#include "tril/check/check.h"
#include "tril/tensor/shape.h"

namespace tril::cli {

/// {shape, data}, data flat and row-major; NaN and infinities are null, but "-Infinity" in masked_scores.
nlohmann::ordered_json value_json(const std::string& name, const Shape& shape, std::span<const double> data);

/// [{name, passed, value, limit, what}]; what ends with the row's subject.
nlohmann::ordered_json checks_json(const std::vector<CheckRow>& checks);

/// The tokens of a text that rows (and the columns of scores and weights) stand for. The first `padding` and
/// the last `filling` of them are not shown.
struct RowNames {
  std::vector<std::string> tokens;
  int64_t padding = 0;
  int64_t filling = 0;
};

/// Name, shape and what it is, then its numbers as matrices to three places, a line for each row. With
/// several `texts` the value's first dimension is theirs. A wide row is shortened to its first numbers, least
/// and largest; of many tokens the last are shown.
std::string value_text(const std::string& name, const Shape& shape, std::span<const double> data,
                       std::span<const RowNames> texts = {});

/// A token as a label: in quotes where it holds blanks or control characters.
std::string token_label(const std::string& token);

/// The route with these stages lit, drawn for standard output.
std::string route_text(Route route, const std::vector<std::string>& stages);

}  // namespace tril::cli
