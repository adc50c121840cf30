// The work of the demo, apart from its words: settings, checks on fresh weights, two trained models,
// baselines, samples. What it leaves out: telling any of it (demo.cc).
#pragma once
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "tril/check/check.h"
#include "tril/cli/commands.h"
#include "tril/data/baselines.h"
#include "tril/data/corpus.h"
#include "tril/train/run_folder.h"
#include "tril/train/settings.h"

namespace tril::cli {

/// A preset on tales with the demo's number of steps and a dozen looks at the validation part.
Config demo_config(const std::string& preset, int64_t steps, const Common& common);

/// The checks that apply to fresh weights of this configuration, with a few seconds for gradients. A live
/// line tells which is at work. Ends early where Ctrl-C has come.
std::vector<CheckRow> demo_checks(Config config, const Corpus& corpus);

struct DemoSample {
  double temperature;
  std::string text;
};
/// One continuation of the prompt at each temperature.
std::vector<DemoSample> demo_samples(const std::string& run, const std::string& prompt, int64_t seed);

/// Something to try next: the words after the program's name, and what they do.
struct DemoCommand {
  std::vector<std::string> words;
  std::string about;
};
std::vector<DemoCommand> demo_commands(const std::string& run, const std::string& prompt, int64_t steps);

// The parts of the demo's document.
nlohmann::ordered_json demo_json(const BaselineLosses& losses);
nlohmann::ordered_json demo_json(const std::vector<DemoSample>& samples, const std::string& prompt);
nlohmann::ordered_json demo_json(const std::vector<DemoCommand>& commands);

}  // namespace tril::cli
