// What train and resume show when they end: the figures, the loss curve on a terminal, the samples, what to
// do next. What it leaves out: computing any of it (train/loop.h).
#pragma once
#include <nlohmann/json_fwd.hpp>
#include <string>

namespace tril::cli {

/// result.json in lines for a reader.
std::string summary_text(const nlohmann::ordered_json& result);

/// Training and validation loss against targets seen, with the loss of an even guess as a level; "" where
/// there are fewer than two points.
std::string loss_chart(const nlohmann::ordered_json& result, bool unicode);

/// Prints the result of a run: as JSON, or as lines with a chart where standard output is a terminal.
void print_result(const nlohmann::ordered_json& result, bool json);

}  // namespace tril::cli
