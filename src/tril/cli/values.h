// Named values for a reader and for other programs: what check hand-worked and trace print.
// What it leaves out: computing them.
#pragma once
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <vector>

#include "tril/base/route.h"
#include "tril/tensor/shape.h"

namespace tril::cli {

/// {shape, data}, data flat and row-major; NaN and infinities are null, but "-Infinity" in masked_scores.
nlohmann::ordered_json value_json(const std::string& name, const Shape& shape, std::span<const double> data);

/// The name, the shape, and the numbers as matrices, a line for each row. `rows` and `columns` name the last
/// two dimensions where they are tokens.
std::string value_text(const std::string& name, const Shape& shape, std::span<const double> data,
                       std::span<const std::string> rows = {}, std::span<const std::string> columns = {});

/// The route with these stages lit, drawn for standard output.
std::string route_text(Route route, const std::vector<std::string>& stages);

}  // namespace tril::cli
