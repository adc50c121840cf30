// A configuration as TOML, and the page of all settings.
#include <fmt/format.h>

#include <cmath>

#include "tril/base/error.h"
#include "tril/train/config.h"

namespace tril {
namespace {

// A basic string of TOML: quotes, backslashes and control characters are escaped.
std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (c == '\n') {
      out += "\\n";
    } else if (c == '\t') {
      out += "\\t";
    } else if (byte < 0x20 || byte == 0x7F) {
      out += fmt::format("\\u{:04X}", static_cast<unsigned>(byte));
    } else {
      out += c;
    }
  }
  return out + "\"";
}

// The shortest text that reads back as the same double, always with the look of a real number.
std::string real_text(double value) {
  std::string text = fmt::format("{}", value);
  if (text.find_first_of(".en") == std::string::npos) text += ".0";
  return text;
}

std::string comment(const ConfigKey& key) {
  const bool listed = !key.choices.empty();
  return key.about + (listed ? " (" + allowed_values(key) + ")" : "");
}

// A cell of a Markdown table: '|' ends cells and '<' begins tags.
std::string cell(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '|') out += '\\';
    out += c == '<' ? "&lt;" : std::string(1, c);
  }
  return out;
}

std::string families_text(unsigned families) {
  if (families == kEveryFamily) return "";
  if (families == kDecoder) return " (decoder)";
  return " (window_attention, decoder)";
}

}  // namespace

std::string value_to_toml(const Value& value) {
  if (const auto* whole = std::get_if<int64_t>(&value)) return fmt::format("{}", *whole);
  if (const auto* real = std::get_if<double>(&value)) return real_text(*real);
  if (const auto* flag = std::get_if<bool>(&value)) return *flag ? "true" : "false";
  return quoted(std::get<std::string>(value));
}

std::string config_to_toml(const Config& config) {
  std::string all = "# Every setting of a tril configuration; a line left out has its preset's value.\n";
  all += fmt::format("preset = {}\n", quoted(config.preset));
  std::string section;
  for (const ConfigKey& key : config_keys()) {
    if (key.section != section) {
      section = key.section;
      all += "\n[" + section + "]\n";
    }
    const std::string line = key.name + " = " + value_to_toml(get_value(config, key));
    all += fmt::format("{:<32} # {}\n", line, comment(key));
  }
  return all;
}

std::string configuration_page() {
  std::string page =
      "# Configuration\n\n"
      "<!-- Made from src/tril/train/config_keys.cc: TRIL_REGENERATE=1 build/release/tril_tests "
      "--gtest_filter='ConfigPage.*' -->\n\n"
      "A configuration is a TOML file. `tril config PRESET` prints one to edit, `tril train my.toml` trains "
      "it, and\n"
      "`--set section.key=value` replaces one setting of either. `preset = \"NAME\"` at the top takes every "
      "setting of\n"
      "a preset; the file then names only what differs. Every fault of a file is told at once, with its "
      "line.\n"
      "A key that changes nothing under the other settings (momentum without Muon, layers of a family that "
      "has "
      "one) is\nrefused where it is given another value than its default; one that a preset brought along "
      "falls "
      "back to that.\n";
  std::string section;
  const Config defaults;
  for (const ConfigKey& key : config_keys()) {
    if (key.section != section) {
      section = key.section;
      page += fmt::format("\n## [{}]\n\n| key | type | default | allowed | what |\n|---|---|---|---|---|\n",
                          section);
    }
    page += fmt::format("| `{}` | {} | `{}` | {} | {}{} |\n", key.name, type_name(key),
                        value_to_toml(get_value(defaults, key)), allowed_values(key), cell(key.about),
                        families_text(key.families));
  }
  return page;
}

}  // namespace tril
