// Checks that concern more than one key of a configuration. What it leaves out: single values (config_keys.h)
// and sizes against the machine's memory (size_check.h).
#pragma once
#include <string>
#include <vector>

#include "tril/train/settings.h"

namespace tril {

struct CrossFault {
  std::vector<std::string> keys;  // the keys that don't fit together, the most telling first
  std::string text;
};

/// Every pair of settings that can't be used together. Each value by itself must be allowed already.
std::vector<CrossFault> cross_faults(const Config& config);

}  // namespace tril
