// The options of one command: declared once, then parsed and shown in its help. The words on the command line
// are taken apart by CLI11; numbers are read here, the same in every locale. What it leaves out: what a
// command does.
#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tril::cli {

/// Thrown by Options::parse where --help stands among the words.
struct HelpAsked {};

class Options {
 public:
  /// `command` as the user types it: "train", "data audit".
  Options(std::string command, std::string summary)
      : command_(std::move(command)), summary_(std::move(summary)) {}

  /// A word without dashes, in the order of declaration. One that is required is refused where it is missing.
  void word(std::string name, std::string& target, std::string about);
  void optional_word(std::string name, std::optional<std::string>& target, std::string about);
  /// Any further words.
  void words(std::string name, std::vector<std::string>& target, std::string about);

  void flag(std::string name, bool& target, std::string about);
  void text(std::string name, std::string value_name, std::optional<std::string>& target, std::string about);
  /// May be given several times.
  void texts(std::string name, std::string value_name, std::vector<std::string>& target, std::string about);
  void choice(std::string name, std::vector<std::string> choices, std::optional<std::string>& target,
              std::string about);
  void integer(std::string name, std::optional<int64_t>& target, int64_t low, int64_t high,
               std::string about);
  /// Which ends of a range belong to it.
  enum class Ends { both, above_low, below_high };
  void real(std::string name, std::optional<double>& target, double low, double high, std::string about,
            Ends ends = Ends::both);
  /// Full names ("train.steps") that `option` takes: an unknown option near one is told about it.
  void settings(std::string option, std::vector<std::string> names);
  /// Marks the last option as one that must be given.
  void required() { entries_.back().required = true; }
  /// What is told where `option`, which this command has not, is given.
  void lacks(std::string option, std::string why) { lacking_[std::move(option)] = std::move(why); }
  /// A paragraph that stands below the options.
  void remark(std::string text) { remarks_.push_back(std::move(text)); }
  /// From here on, options are those that every command has; the help shows them apart.
  void begin_common() { common_from_ = entries_.size(); }

  /// Reads the words after the command's name. Throws Refusal (with the option's name, and the nearest one
  /// for an unknown option) or HelpAsked.
  void parse(std::span<const std::string> arguments);

  std::string usage() const;
  /// What `tril help COMMAND` prints.
  std::string help() const;
  /// The same as Markdown, without the common options.
  std::string markdown() const;
  /// The common options as Markdown.
  std::string common_markdown() const;

  const std::string& command() const { return command_; }

 private:
  struct Entry {
    std::string name;        // "--steps", or a word's name
    std::string value_name;  // "N"; "" for a flag
    std::string about;
    bool positional = false, required = false, repeats = false;
    std::function<void(const std::string&)> store;  // called for each value; throws Refusal
    std::string shown() const { return value_name.empty() || positional ? name : name + " " + value_name; }
  };
  std::vector<std::string> split_equals(std::span<const std::string> arguments) const;
  std::vector<std::string> further_words(const std::vector<std::string>& extra) const;
  [[noreturn]] void refuse_extra(const std::string& word) const;
  std::string hint_for(const std::string& name) const;
  const Entry* find(std::string_view name) const;
  std::string rows(size_t from, size_t to, bool markdown) const;

  std::string command_, summary_;
  std::vector<Entry> entries_;
  std::vector<std::string> remarks_;
  std::map<std::string, std::string> lacking_;
  std::string setting_option_;
  std::vector<std::string> setting_names_;
  size_t common_from_ = SIZE_MAX;
};

}  // namespace tril::cli
