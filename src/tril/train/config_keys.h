// The table of every configuration key: where it stands, what it may be, and one line about it. Parsing,
// --set, the printed TOML and docs/configuration.md all read this one table. What it leaves out: checks that
// concern more than one key (config_check.h).
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "tril/train/settings.h"

namespace tril {

/// Which model families a key of [model] means something to.
enum Families : unsigned { kWindowMlp = 1, kWindowAttention = 2, kDecoder = 4, kEveryFamily = 7 };

/// A setting's place in Config. The alternative is its type.
using Member =
    std::variant<int64_t& (*)(Config&), double& (*)(Config&), bool& (*)(Config&), std::string& (*)(Config&)>;
using Value = std::variant<int64_t, double, bool, std::string>;

struct ConfigKey {
  std::string section, name;
  Member member;
  double low = 0, high = 0;  // allowed numbers, both ends included unless open
  bool low_open = false, high_open = false;
  std::vector<std::string> choices;  // allowed words; empty = any text
  std::string about;                 // one line, no final full stop
  unsigned families = kEveryFamily;

  std::string full_name() const { return section + "." + name; }
};

/// Every key, in the order in which they are printed.
const std::vector<ConfigKey>& config_keys();

/// The key of that name, or nullptr.
const ConfigKey* find_key(std::string_view section, std::string_view name);

Value get_value(const Config& config, const ConfigKey& key);
/// `value` must hold the key's own type.
void set_value(Config& config, const ConfigKey& key, const Value& value);

/// "an integer", "a real number", "true or false", "a string".
std::string_view type_name(const ConfigKey& key);
/// "1 to 4,096", "above 0", "relu, gelu or swiglu"; "" where anything of the type may stand.
std::string allowed_values(const ConfigKey& key);
/// What is wrong with a value of the right type ("must be 1 to 4,096, is 0"); "" where nothing is.
std::string value_fault(const ConfigKey& key, const Value& value);

/// "window_mlp" … as a bit of Families; 0 for another word.
unsigned family_bit(std::string_view family);

}  // namespace tril
