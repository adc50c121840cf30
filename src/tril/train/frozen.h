// Which parameters training leaves as they are: those that train.freeze names, and beside adapters everything
// else. They get no gradient, have no moments, and stay bit for bit. What it leaves out: layers that are
// adapted (model/lora.h).
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include "tril/autograd/parameters.h"
#include "tril/train/settings.h"

namespace tril {

/// Whether a pattern of train.freeze is how `name` begins. "*" stands for any characters but a dot; a pattern
/// that ends in a digit ends a number there: "blocks.1" is not how "blocks.10.mlp.up.weight" begins.
bool freezes(std::string_view pattern, std::string_view name);

/// Marks the frozen parameters of a configuration's model. Throws Refusal for a pattern that names none, with
/// the nearest name, and where nothing would be left to train.
void freeze(Parameters& parameters, const Config& config);

/// Numbers that are not frozen.
int64_t trained_count(const Parameters& parameters);

/// "134,975,808 parameters, 460,800 of them trained (0.34%)"; "331,132 parameters" where all are.
std::string trained_share(int64_t parameters, int64_t trained);

}  // namespace tril
