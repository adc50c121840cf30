// What a training run says of itself besides its progress: how much of the model it trains, what its first
// loss means, and whether this program's bits are those of the one before. What it leaves out: when
// (loop.cc).
#pragma once
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "tril/autograd/parameters.h"
#include "tril/train/settings.h"

namespace tril {

/// Nothing where all of it is trained.
void tell_trained(const Parameters& parameters);

/// Beside an even guess, and from scratch beside what fresh weights give, with a warning where it is far off.
void tell_first_loss(const Config& config, double loss);

/// The versions, and the number of ranks, that the bits of a run depend on.
nlohmann::ordered_json platform(int ranks);
/// Warns where `there`, the platform of the state in file `where`, is another. One without ranks is of one
/// process.
void tell_platform(const std::string& where, const nlohmann::ordered_json& there, int ranks);

}  // namespace tril
