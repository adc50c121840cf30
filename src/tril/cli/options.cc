// Options over CLI11: the only file of tril that sees it.
#include "tril/cli/options.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>

#include "tril/base/error.h"
#include "tril/base/number.h"
#include "tril/base/quote.h"
#include "tril/base/suggest.h"
#include "tril/base/table.h"
#include "tril/base/typed.h"

namespace tril::cli {
namespace {

// Paths and names are never empty; texts and numbers say themselves what they may be.
bool is_name(const std::string& value_name) {
  return !value_name.empty() && value_name != "TEXT" && value_name != "N" && value_name != "X";
}

std::string joined(const std::vector<std::string>& words) {
  return fmt::format("{}", fmt::join(words, "|"));
}

}  // namespace

void Options::word(std::string name, std::string& target, std::string about) {
  entries_.push_back(
      {name, name, std::move(about), true, true, false, [&target](const std::string& v) { target = v; }});
}
void Options::optional_word(std::string name, std::optional<std::string>& target, std::string about) {
  entries_.push_back(
      {name, name, std::move(about), true, false, false, [&target](const std::string& v) { target = v; }});
}
void Options::words(std::string name, std::vector<std::string>& target, std::string about) {
  entries_.push_back({name, name, std::move(about), true, false, true,
                      [&target](const std::string& v) { target.push_back(v); }});
}
void Options::flag(std::string name, bool& target, std::string about) {
  entries_.push_back({std::move(name), "", std::move(about), false, false, true,
                      [&target](const std::string&) { target = true; }});
}
void Options::text(std::string name, std::string value_name, std::optional<std::string>& target,
                   std::string about) {
  entries_.push_back({std::move(name), std::move(value_name), std::move(about), false, false, false,
                      [&target](const std::string& v) { target = v; }});
}
void Options::texts(std::string name, std::string value_name, std::vector<std::string>& target,
                    std::string about) {
  entries_.push_back({std::move(name), std::move(value_name), std::move(about), false, false, true,
                      [&target](const std::string& v) { target.push_back(v); }});
}
void Options::choice(std::string name, std::vector<std::string> choices, std::optional<std::string>& target,
                     std::string about) {
  auto store = [&target, name, choices](const std::string& value) {
    if (std::find(choices.begin(), choices.end(), value) == choices.end())
      refuse("{} must be {}, is {}{}", name, joined(choices), in_quotes(value), nearest_hint(value, choices));
    target = value;
  };
  entries_.push_back({name, joined(choices), std::move(about), false, false, false, std::move(store)});
}
void Options::integer(std::string name, std::optional<int64_t>& target, int64_t low, int64_t high,
                      std::string about) {
  auto store = [&target, name, low, high](const std::string& text) {
    const auto value = parse_integer(text);
    if (!value) refuse("{} must be an integer, is {}", name, in_quotes(text));
    if (*value < low || *value > high)
      refuse("{} must be {} to {}, is {}", name, with_commas(low), with_commas(high), with_commas(*value));
    target = *value;
  };
  entries_.push_back({name, "N", std::move(about), false, false, false, std::move(store)});
}
void Options::real(std::string name, std::optional<double>& target, double low, double high,
                   std::string about, Ends ends) {
  auto store = [&target, name, low, high, ends](const std::string& text) {
    const auto value = parse_real(text);
    if (!value) refuse("{} must be a finite number, is {}", name, in_quotes(text));
    const bool below = ends == Ends::above_low ? *value <= low : *value < low;
    const bool above = ends == Ends::below_high ? *value >= high : *value > high;
    if (!below && !above) {
      target = *value;
      return;
    }
    const std::string range = ends == Ends::above_low    ? fmt::format("above {} and at most {}", low, high)
                              : ends == Ends::below_high ? fmt::format("{} or more and below {}", low, high)
                                                         : fmt::format("{} to {}", low, high);
    refuse("{} must be {}, is {}", name, range, *value);
  };
  entries_.push_back({name, "X", std::move(about), false, false, false, std::move(store)});
}

void Options::settings(std::string option, std::vector<std::string> names) {
  setting_option_ = std::move(option);
  setting_names_ = std::move(names);
}

const Options::Entry* Options::find(std::string_view name) const {
  for (const Entry& entry : entries_)
    if (!entry.positional && entry.name == name) return &entry;
  return nullptr;
}

// "--name=value" becomes two words, so that an empty value stays a value.
std::vector<std::string> Options::split_equals(std::span<const std::string> arguments) const {
  std::vector<std::string> words;
  bool value_next = false;
  for (size_t i = 0; i < arguments.size(); ++i) {
    const std::string& word = arguments[i];
    if (!value_next && word == "--") {
      words.insert(words.end(), arguments.begin() + static_cast<std::ptrdiff_t>(i), arguments.end());
      return words;
    }
    const size_t equals = word.find('=');
    const Entry* entry = value_next || !word.starts_with("--") ? nullptr : find(word.substr(0, equals));
    value_next = entry != nullptr && !entry->value_name.empty() && equals == std::string::npos;
    if (entry == nullptr || equals == std::string::npos) {
      words.push_back(word);
      continue;
    }
    if (entry->value_name.empty()) refuse("{} takes no value", entry->name);
    words.push_back(entry->name);
    words.push_back(word.substr(equals + 1));
  }
  return words;
}

// "--learning_rat" is nearer to a setting than to any option of the command.
std::string Options::hint_for(const std::string& name) const {
  std::vector<std::string> known, settings;
  for (const Entry& entry : entries_)
    if (!entry.positional) known.push_back(entry.name);
  std::string option = near_name(name, known);
  // the dashes that all options share bring none nearer: --json is not what --from was meant for
  const int letters = static_cast<int>(name.size() - std::min(name.find_first_not_of('-'), name.size()));
  if (!option.starts_with(name) && edit_distance(name, option) > std::max(2, letters / 2)) option.clear();
  std::string word = name;  // settings are written with underscores
  std::replace(word.begin() + static_cast<std::ptrdiff_t>(std::min<size_t>(2, word.size())), word.end(), '-',
               '_');
  for (const bool full : {false, true})
    for (const std::string& each : setting_names_)
      settings.push_back("--" + (full ? each : each.substr(each.find('.') + 1)));
  const std::string near = near_name(word, settings);
  if (near.empty() || (!option.empty() && edit_distance(name, option) <= edit_distance(word, near)))
    return option.empty() ? "" : "; the nearest is '" + option + "'";
  const auto at = static_cast<size_t>(std::find(settings.begin(), settings.end(), near) - settings.begin());
  return fmt::format("; the nearest is '{} {}=...'", setting_option_,
                     setting_names_[at % setting_names_.size()]);
}

void Options::refuse_extra(const std::string& word) const {
  if (word.size() > 1 && word[0] == '-') {
    const std::string name = word.substr(0, word.find('='));
    if (const auto known = lacking_.find(name); known != lacking_.end())
      refuse("{} has no {}: {}", command_, name, known->second);
    refuse("unknown option {}{}; see: {} {}", in_quotes(name), hint_for(name), typed({"help"}), command_);
  }
  refuse("unexpected word {}; usage: {}", in_quotes(word), usage());
}

// Words without a place of their own: an option that is none, one word too many, or the values of words().
std::vector<std::string> Options::further_words(const std::vector<std::string>& extra) const {
  const bool taken = std::any_of(entries_.begin(), entries_.end(),
                                 [](const Entry& entry) { return entry.positional && entry.repeats; });
  std::vector<std::string> words;
  bool plain = false;  // after "--" a dash means nothing
  for (const std::string& word : extra) {
    if (word == "--" && !plain) {
      plain = true;
      continue;
    }
    if (!taken || (!plain && word.size() > 1 && word[0] == '-')) refuse_extra(word);
    words.push_back(word);
  }
  return words;
}

void Options::parse(std::span<const std::string> arguments) {
  const std::vector<std::string> words = split_equals(arguments);
  CLI::App app;
  app.set_help_flag();
  app.allow_extras();
  const auto taken = [](const CLI::results_t&) { return true; };
  std::vector<CLI::Option*> options;
  for (const Entry& entry : entries_) {
    if (entry.positional && entry.repeats) {
      options.push_back(nullptr);
    } else if (entry.value_name.empty()) {
      options.push_back(app.add_flag_function(entry.name, [](int64_t) {}));
    } else {
      // a word's name in the help ("PRESET|FILE") is none that CLI11 takes
      const std::string name = entry.positional ? "word" + std::to_string(options.size()) : entry.name;
      options.push_back(app.add_option(name, taken)->expected(1)->allow_extra_args(false));
      options.back()->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
    }
  }
  const CLI::Option* help = app.add_flag("-h,--help");
  try {
    app.parse(std::vector<std::string>(words.rbegin(), words.rend()));  // CLI11 takes them from the back
  } catch (const CLI::ParseError& error) {
    const Entry* last = words.empty() ? nullptr : find(words.back());
    if (last != nullptr && !last->value_name.empty())
      refuse("{} needs a value: {}", last->name, last->shown());
    refuse("{}; usage: {}", error.what(), usage());
  }
  if (help->count() > 0) throw HelpAsked{};
  const std::vector<std::string> further = further_words(app.remaining());
  for (size_t i = 0; i < entries_.size(); ++i) {
    const Entry& entry = entries_[i];
    const std::vector<std::string>& values = options[i] != nullptr ? options[i]->results() : further;
    if (values.size() > 1 && !entry.repeats) refuse("{} is given {} times", entry.name, values.size());
    if (values.empty() && entry.required)
      refuse("{} is missing; usage: {}", entry.positional ? entry.name : entry.shown(), usage());
    for (const std::string& value : values) {
      // an empty path or name is most often a shell's variable that was not set
      if (value.empty() && is_name(entry.value_name))
        refuse("{} is empty; usage: {}", entry.positional ? entry.name : entry.shown(), usage());
      entry.store(value);
    }
  }
}

std::string Options::usage() const {
  std::string line = "tril " + command_;
  for (const Entry& entry : entries_) {
    if (!entry.positional && !entry.required) continue;
    const std::string shown = entry.shown() + (entry.positional && entry.repeats ? "..." : "");
    line += entry.required ? " " + shown : " [" + shown + "]";
  }
  const size_t optional = std::min(common_from_, entries_.size());
  for (size_t i = 0; i < optional; ++i)
    if (!entries_[i].positional && !entries_[i].required) return line + " [options]";
  return line;
}

std::string Options::rows(size_t from, size_t to, bool markdown) const {
  std::string all;
  size_t width = 0;
  for (const Entry& entry : entries_) width = std::max(width, entry.shown().size());
  for (size_t i = from; i < std::min(to, entries_.size()); ++i) {
    const Entry& entry = entries_[i];
    const std::string about =
        entry.about + (entry.repeats && !entry.value_name.empty() ? " (may be repeated)" : "");
    all += markdown ? fmt::format("- `{}`: {}\n", entry.shown(), about)
                    : fmt::format("  {:<{}}  {}\n", entry.shown(), width, about);
  }
  return all;
}

std::string Options::help() const {
  std::string all = "usage: " + usage() + "\n\n" + summary_ + "\n";
  if (const std::string own = rows(0, common_from_, false); !own.empty()) all += "\n" + own;
  for (const std::string& remark : remarks_) all += "\n" + remark + "\n";
  if (common_from_ < entries_.size())
    all += "\ncommon options:\n" + rows(common_from_, entries_.size(), false);
  return all;
}

std::string Options::markdown() const {
  std::string all = "## tril " + command_ + "\n\n    " + usage() + "\n\n" + summary_ + "\n";
  if (const std::string own = rows(0, common_from_, true); !own.empty()) all += "\n" + own;
  for (const std::string& remark : remarks_) all += "\n" + remark + "\n";
  return all;
}

std::string Options::common_markdown() const {
  return common_from_ < entries_.size() ? rows(common_from_, entries_.size(), true) : "";
}

}  // namespace tril::cli
