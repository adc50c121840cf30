// What the rows share.
#include "tril/cli/bench_rows.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "tril/base/typed.h"
#include "tril/cli/child.h"

namespace tril::cli {

const std::vector<std::string>& program_names() {
  static const std::vector<std::string> names = {
      "microgpt.py", "microgpt-c", "microgpt-c-64", "microgpt.cpp", "microgpt.cpp-64", "llm.c", "llama2.c"};
  return names;
}

std::string PeerSettings::program(const std::string& name) const {
  const auto found =
      std::find_if(programs.begin(), programs.end(), [&](const auto& given) { return given.first == name; });
  return found == programs.end() ? "" : found->second;
}

Contest script_contest(const PeerSettings& settings, std::string against, double goal,
                       const std::string& script,
                       const std::vector<std::pair<std::string, std::vector<std::string>>>& ways) {
  if (settings.python.empty())
    return no_contest(std::move(against),
                      "no Python environment: " + typed({"setup", "peers"}) + " makes it");
  Contest contest{std::move(against), goal, {}, ""};
  for (const auto& [how, more] : ways) {
    Way way{how, {settings.python, source_folder() + "/bench/peers/" + script, "--serve"}, nullptr};
    way.words.insert(way.words.end(), more.begin(), more.end());
    contest.ways.push_back(std::move(way));
  }
  return contest;
}

Contest no_contest(std::string against, std::string why) {
  return {std::move(against), 0, {}, std::move(why)};
}

Contest program_contest(const PeerSettings& settings, const std::string& name, double goal,
                        std::vector<std::string> more) {
  const std::string path = settings.program(name);
  if (path.empty())
    return no_contest(name, fmt::format("not at hand: --program {}=PATH names the built program", name));
  std::vector<std::string> words = {"--program", name, "--path", path};
  words.insert(words.end(), more.begin(), more.end());
  Contest contest = script_contest(settings, name, goal, "program.py", {{"as built", words}});
  contest.first_limit = contest.last_limit = 0.5;  // other draws: only that both learn the same thing
  return contest;
}

std::string scratch_file(const std::string& name) {
  struct Folder {
    std::filesystem::path path =
        std::filesystem::temp_directory_path() / ("tril-bench-" + std::to_string(getpid()));
    Folder() { std::filesystem::create_directories(path); }
    ~Folder() {
      std::error_code ignored;
      std::filesystem::remove_all(path, ignored);
    }
  };
  static const Folder folder;
  return (folder.path / name).string();
}

}  // namespace tril::cli
