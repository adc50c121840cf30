// The largest sizes of a model that a foreign file may ask for: those that a configuration may
// (train/config_keys.cc), so that products of two of them stay far below 2^63.
#pragma once
#include <cstdint>

namespace tril {

inline constexpr int64_t kMostWidth = 65536, kMostHidden = 1048576, kMostHeads = 4096, kMostLayers = 1000,
                         kMostContext = 1048576, kMostTokens = 16000000;

}  // namespace tril
