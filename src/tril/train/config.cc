// Gathering a configuration. The only file of tril that sees the TOML library.
#include "tril/train/config.h"

#include <toml++/toml.h>
#include <algorithm>
#include <iterator>
#include <set>

#include "tril/base/error.h"
#include "tril/base/file.h"
#include "tril/base/log.h"
#include "tril/base/number.h"
#include "tril/base/quote.h"
#include "tril/base/suggest.h"
#include "tril/base/table.h"
#include "tril/model/lora.h"
#include "tril/train/config_check.h"
#include "tril/train/config_effects.h"

namespace tril {
namespace {

constexpr size_t kLargestFile = 1 << 20;
constexpr size_t kMostFaults = 20;  // told one by one

// A name from a file or a flag: as it is, or in quotes where it could spoil a terminal.
std::string printable(std::string_view name) {
  const std::string quoted = in_quotes(name), plain = "'" + std::string(name) + "'";
  return quoted == plain && !name.empty() ? std::string(name) : quoted;
}

std::string article(const toml::node& node) {
  switch (node.type()) {
    case toml::node_type::string:
      return "a string";
    case toml::node_type::integer:
      return "an integer";
    case toml::node_type::floating_point:
      return "a real number";
    case toml::node_type::boolean:
      return "a boolean";
    case toml::node_type::table:
      return "a table";
    case toml::node_type::array:
      return "an array";
    default:
      return "a date or time";
  }
}

std::vector<std::string> section_names() {
  std::vector<std::string> names;
  for (const ConfigKey& key : config_keys())
    if (names.empty() || names.back() != key.section) names.push_back(key.section);
  return names;
}

std::vector<std::string> names_in(std::string_view section) {
  std::vector<std::string> names;
  for (const ConfigKey& key : config_keys())
    if (key.section == section) names.push_back(key.name);
  return names;
}

// "; the nearest is …" for a name unknown in this section, or where else the name stands.
std::string key_hint(std::string_view section, std::string_view name) {
  for (const ConfigKey& key : config_keys())
    if (key.name == name && key.section != section) return "; it belongs to [" + key.section + "]";
  return nearest_hint(name, names_in(section));
}

bool ends_with_json(std::string_view path) {
  return path.size() >= 5 && path.substr(path.size() - 5) == ".json";
}

std::string read_bounded(const std::string& path) {
  std::string text = read_file(path);
  if (text.size() > kLargestFile)
    refuse("{}: {} bytes; a configuration has at most {}", path, text.size(), kLargestFile);
  return text;
}

}  // namespace

// Walks one parsed file. Toml++ sorts keys, so faults are put in the order of lines at the end.
class TomlReader {
 public:
  TomlReader(ConfigBuilder& builder, std::string source, bool inherited, bool of_run)
      : builder_(builder), source_(std::move(source)), inherited_(inherited), of_run_(of_run) {}

  void read(const toml::table& root) {
    take_preset(root);
    for (const auto& [name, node] : root) {
      const std::string section(name.str());
      if (section == "preset") continue;
      if (!known_section(section, node)) continue;
      for (const auto& [key_name, value] : *node.as_table())
        read_key(section, std::string(key_name.str()), value);
    }
  }

 private:
  static long line(const toml::node& node) { return static_cast<long>(node.source().begin.line); }
  void fault(const toml::node& node, std::string text) {
    builder_.fault(source_, line(node), std::move(text));
  }

  void take_preset(const toml::table& root) {
    const toml::node* node = root.get("preset");
    if (node == nullptr) return;
    const auto name = node->value_exact<std::string>();
    if (!name) return fault(*node, "preset must be a string, is " + article(*node));
    if (of_run_) builder_.config_.preset = *name;
    if (name->empty() || of_run_) return;
    const std::vector<std::string> known = preset_names();
    if (std::find(known.begin(), known.end(), *name) == known.end())
      return fault(*node,
                   fmt::format("there is no preset {}{}", in_quotes(*name), nearest_hint(*name, known)));
    builder_.add_preset(*name);
  }

  bool known_section(const std::string& section, const toml::node& node) {
    const std::vector<std::string> sections = section_names();
    if (std::find(sections.begin(), sections.end(), section) != sections.end()) {
      if (node.is_table()) return true;
      fault(node, fmt::format("{} must be a section, [{}], is {}", section, section, article(node)));
      return false;
    }
    if (node.is_table())
      fault(node, fmt::format("[{}] is no section{}", printable(section), nearest_hint(section, sections)));
    else
      fault(node,
            fmt::format("{} is no setting outside a section{}", printable(section), key_hint("", section)));
    return false;
  }

  void read_key(const std::string& section, const std::string& name, const toml::node& node) {
    const ConfigKey* key = find_key(section, name);
    if (key == nullptr)
      return fault(
          node, fmt::format("{} is no setting{}", printable(section + "." + name), key_hint(section, name)));
    const auto value = typed(*key, node);
    if (!value)
      return fault(node,
                   fmt::format("{} must be {}, is {}", key->full_name(), type_name(*key), article(node)));
    if (const std::string wrong = value_fault(*key, *value); !wrong.empty())
      return fault(node, key->full_name() + " " + wrong);
    builder_.store(*key, *value, {source_, line(node), inherited_, false});
  }

  static std::optional<Value> typed(const ConfigKey& key, const toml::node& node) {
    switch (key.member.index()) {
      case 0:
        if (const auto whole = node.value_exact<int64_t>()) return *whole;
        break;
      case 1:  // an integer will do for a real number
        if (const auto real = node.value_exact<double>()) return *real;
        if (const auto whole = node.value_exact<int64_t>()) return static_cast<double>(*whole);
        break;
      case 2:
        if (const auto flag = node.value_exact<bool>()) return *flag;
        break;
      default:
        if (auto text = node.value_exact<std::string>()) return *std::move(text);
    }
    return std::nullopt;
  }

  ConfigBuilder& builder_;
  std::string source_;
  bool inherited_, of_run_;
};

void ConfigBuilder::fault(const std::string& source, long line, std::string text) {
  faults_.push_back({source, line, std::move(text)});
}

void ConfigBuilder::store(const ConfigKey& key, const Value& value, Origin origin) {
  const auto before = origins_.find(key.full_name());
  if (origin.typed && before != origins_.end() && before->second.typed)
    fault(origin.source, 0,
          fmt::format("{} is set already, by {}; give it once", key.full_name(), before->second.source));
  set_value(config_, key, value);
  origins_[key.full_name()] = std::move(origin);
}

void ConfigBuilder::add_preset(std::string_view name) {
  const std::string_view text = preset_text(name);
  if (depth_ > 8) refuse("preset '{}' inherits from itself", name);
  ++depth_;
  add_toml(text, "preset " + std::string(name));
  --depth_;
  config_.preset = name;
}

void ConfigBuilder::add_defaults(std::string_view text, const std::string& source) {
  ++depth_;
  add_toml(text, source);
  --depth_;
}

void ConfigBuilder::add_file(const std::string& path) {
  if (ends_with_json(path)) refuse("{}: only TOML is a configuration, not JSON", path);
  add_parsed(read_bounded(path), path, false);
}

void ConfigBuilder::add_run_file(const std::string& path) {
  of_run_ = true;
  add_parsed(read_bounded(path), path, true);
}

void ConfigBuilder::add_toml(std::string_view text, const std::string& source) {
  add_parsed(text, source, false);
}

void ConfigBuilder::add_parsed(std::string_view text, const std::string& source, bool of_run) {
  if (text.starts_with("\xFF\xFE") || text.starts_with("\xFE\xFF"))
    refuse("{}: UTF-16 text; a configuration is UTF-8", source);
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);  // a byte-order mark says nothing here
  toml::table root;
  try {
    root = toml::parse(text);
  } catch (const toml::parse_error& error) {
    const auto& at = error.source().begin;
    std::string what(error.description());
    std::replace(what.begin(), what.end(), '\n', ' ');
    refuse("{}: line {}, column {}: {}", source, at.line, at.column, what);
  }
  TomlReader(*this, source, depth_ > 0, of_run).read(root);
}

void ConfigBuilder::set(std::string_view assignment) {
  const std::string source = "--set " + printable(assignment);
  const size_t equals = assignment.find('=');
  if (equals == std::string_view::npos) return fault(source, 0, "must be section.key=value");
  assign({source, 0, false, true}, assignment.substr(0, equals), assignment.substr(equals + 1));
}

void ConfigBuilder::set_flag(std::string_view flag, std::string_view full_name, std::string_view text) {
  assign({fmt::format("{} {}", flag, printable(text)), 0, false, true}, full_name, text);
}

void ConfigBuilder::imply(std::string_view flag, std::string_view full_name, std::string_view text) {
  const auto origin = origins_.find(full_name);
  if (origin == origins_.end() || !origin->second.typed)
    assign({std::string(flag), 0, false, false}, full_name, text);
}

void ConfigBuilder::fix(const std::string& source, const ConfigKey& key, const Value& value) {
  if (const std::string wrong = value_fault(key, value); !wrong.empty())
    return fault(source, 0, key.full_name() + " " + wrong);
  const auto origin = origins_.find(key.full_name());
  const bool said = origin != origins_.end() && !origin->second.inherited;
  const Value here = get_value(config_, key);
  const bool unsaid = here == Value(int64_t{0}) || here == Value(std::string());
  if (said && here != value && !unsaid)
    fault(origin->second.source, origin->second.line,
          fmt::format("{} is {}, and {} has {}; leave it out", key.full_name(), value_to_toml(here), source,
                      value_to_toml(value)));
  set_value(config_, key, value);
  origins_[key.full_name()] = {source, 0, false, false};  // no recipe replaces it
}

void ConfigBuilder::assign(const Origin& origin, std::string_view full_name, std::string_view text) {
  const std::string& source = origin.source;
  const size_t dot = full_name.find('.');
  const std::string_view section = dot == std::string_view::npos ? "" : full_name.substr(0, dot);
  const std::string_view name = dot == std::string_view::npos ? full_name : full_name.substr(dot + 1);
  const ConfigKey* key = find_key(section, name);
  if (key == nullptr) {
    std::vector<std::string> known;
    for (const ConfigKey& each : config_keys()) {
      known.push_back(each.full_name());
      if (each.name == name)
        return fault(source, 0, fmt::format("{} is no setting; it is {}", full_name, each.full_name()));
    }
    return fault(source, 0,
                 fmt::format("{} is no setting{}", printable(full_name), nearest_hint(full_name, known)));
  }
  std::optional<Value> value;
  switch (key->member.index()) {
    case 0:
      if (const auto whole = parse_integer(text)) value = *whole;
      break;
    case 1:
      if (const auto real = parse_real(text)) value = *real;
      break;
    case 2:
      if (text == "true" || text == "false") value = text == "true";
      break;
    default:
      // "…" may stand around a text, as in the file
      if (text.size() >= 2 && text.front() == '"' && text.back() == '"')
        text = text.substr(1, text.size() - 2);
      value = std::string(text);
  }
  if (!value)
    return fault(source, 0,
                 fmt::format("{} must be {}, is {}", key->full_name(), type_name(*key), in_quotes(text)));
  if (const std::string wrong = value_fault(*key, *value); !wrong.empty())
    return fault(source, 0, key->full_name() + " " + wrong);
  store(*key, *value, origin);
}

void ConfigBuilder::refuse_faults() const {
  if (faults_.empty()) return;
  // sources in the order in which they first complain, the lines of each in the file's order
  std::vector<Fault> sorted;
  std::set<std::string> done;
  for (const Fault& first : faults_) {
    if (!done.insert(first.source).second) continue;
    const auto begin = static_cast<std::ptrdiff_t>(sorted.size());
    std::copy_if(faults_.begin(), faults_.end(), std::back_inserter(sorted),
                 [&](const Fault& fault) { return fault.source == first.source; });
    std::stable_sort(sorted.begin() + begin, sorted.end(),
                     [](const Fault& a, const Fault& b) { return a.line < b.line; });
  }
  const size_t more = sorted.size() - std::min(sorted.size(), kMostFaults);
  sorted.resize(sorted.size() - more);
  std::string all;
  for (const Fault& fault : sorted) {
    all += all.empty() ? "" : "\n";
    all += fault.source + ": " + fault.text;
    if (fault.line > 0) all += " (line " + std::to_string(fault.line) + ")";
  }
  if (more > 0) all += fmt::format("\n{}: and {} faults more", sorted.back().source, more);
  throw Refusal(all);
}

std::vector<std::string> ConfigBuilder::missing() const {
  std::vector<std::string> names;
  for (const ConfigKey& key : config_keys())
    if (origins_.count(key.full_name()) == 0) names.push_back(key.full_name());
  return names;
}

// "--steps 50" over a preset with 100 steps of warm-up asks for a short try, not for a fault.
void ConfigBuilder::fit_warmup() {
  TrainSettings& train = config_.train;
  const auto warmup = origins_.find("train.warmup"), steps = origins_.find("train.steps");
  const bool inherited = warmup != origins_.end() && warmup->second.inherited;
  if (train.warmup <= train.steps || !inherited || steps == origins_.end() || steps->second.inherited) return;
  log::note("the preset's warm-up of {} is shortened to {}, a tenth of {}", counted(train.warmup, "step"),
            with_commas(train.steps / 10), counted(train.steps, "step"));
  train.warmup = train.steps / 10;
}

// Over what a preset says, under what a file or a flag of the user's says.
void ConfigBuilder::apply_recipe() {
  const std::string name = config_.train.recipe;
  if (name == "none" || of_run_ || config_.model.family != "decoder") return;
  ConfigBuilder recipe;
  recipe.add_toml(recipe_text(name), "recipe " + name);
  recipe.refuse_faults();
  for (const auto& [full_name, origin] : recipe.origins_) {
    const auto given = origins_.find(full_name);
    if (given != origins_.end() && !given->second.inherited) continue;
    const size_t dot = full_name.find('.');
    const ConfigKey& key = *find_key(full_name.substr(0, dot), full_name.substr(dot + 1));
    store(key, get_value(recipe.config_, key), {origin.source, origin.line, true, false});
  }
}

Config ConfigBuilder::finish() {
  apply_recipe();
  fit_warmup();
  // what a preset brought along and no longer counts contradicts nothing
  const Config defaults;
  Config meant = config_;
  for (const ConfigKey& key : config_keys()) {
    const auto origin = origins_.find(key.full_name());
    const bool inherited = origin != origins_.end() && origin->second.inherited;
    if (inherited && !no_effect(config_, key).empty()) set_value(meant, key, get_value(defaults, key));
  }
  for (const CrossFault& cross : cross_faults(meant)) {
    // told where the user said it: the first of the keys that a file or a flag of theirs set
    const Origin* origin = nullptr;
    for (const std::string& key : cross.keys) {
      const auto found = origins_.find(key);
      if (found != origins_.end() && (origin == nullptr || (origin->inherited && !found->second.inherited)))
        origin = &found->second;
    }
    fault(origin != nullptr ? origin->source : "configuration", origin != nullptr ? origin->line : 0,
          cross.text);
  }
  const Config resolved = resolve(config_);
  for (const ConfigKey& key : config_keys()) {
    const auto origin = origins_.find(key.full_name());
    const std::string idle = no_effect(config_, key);
    if (idle.empty() || origin == origins_.end() || origin->second.inherited) continue;
    const Value value = get_value(config_, key);
    if (value != get_value(defaults, key) && value != get_value(resolved, key))
      fault(origin->second.source, origin->second.line, key.full_name() + " " + idle);
  }
  refuse_faults();
  return resolved;
}

Config resolve(Config config) {
  config = without_idle_settings(config);
  ModelConfig& model = config.model;
  if (model.kv_heads == 0) model.kv_heads = model.heads;
  if (model.d_k == 0) model.d_k = model.d_model;
  if (model.d_v == 0) model.d_v = model.d_model;
  if (model.lora.rank > 0 && model.lora.targets.empty()) model.lora.targets = default_lora_targets(model);
  TrainSettings& train = config.train;
  if (train.block == 0) train.block = model.context;
  if (train.schedule == "trapezoid" && train.cooldown == 0) train.cooldown = train.steps / 5;
  return config;
}

}  // namespace tril
