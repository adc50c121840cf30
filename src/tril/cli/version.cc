// tril --version.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "tril/base/build_info.h"
#include "tril/base/error.h"
#include "tril/base/threads.h"
#include "tril/cli/commands.h"
#include "tril/cli/output.h"

namespace tril::cli {
namespace {

int show(const Common& common) {
  if (common.json) {
    nlohmann::ordered_json libraries;
    for (const auto& [name, version] : library_versions()) libraries[name] = version;
    print_json({{"version", program_version()},
                {"compiler", compiler_version()},
                {"libraries", libraries},
                {"vector_level", vector_level()},
                {"threads", threads()}});
    return kExitDone;
  }
  print(fmt::format("tril {}\ncompiler      {}\nvector level  {}\nthreads       {}\n", program_version(),
                    compiler_version(), vector_level(), threads()));
  for (const auto& [name, version] : library_versions()) print(fmt::format("{:<14}{}\n", name, version));
  return kExitDone;
}

}  // namespace

Action declare_version(Options&) {
  return show;
}

}  // namespace tril::cli
