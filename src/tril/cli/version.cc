// tril --version.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "tril/base/build_info.h"
#include "tril/base/error.h"
#include "tril/base/threads.h"
#include "tril/cli/commands.h"
#include "tril/cli/output.h"
#include "tril/train/ranks.h"

namespace tril::cli {
namespace {

int show(const Common& common) {
  const std::string version = mpi_version(), mpi = version.empty() ? "none" : version;
  if (common.json) {
    nlohmann::ordered_json libraries;
    for (const auto& [name, number] : library_versions()) libraries[name] = number;
    libraries["MPI"] = mpi;
    print_json({{"version", program_version()},
                {"compiler", compiler_version()},
                {"libraries", libraries},
                {"vector_level", vector_level()},
                {"threads", threads()}});
    return kExitDone;
  }
  print(fmt::format("tril {}\ncompiler      {}\nvector level  {}\nthreads       {}\n", program_version(),
                    compiler_version(), vector_level(), threads()));
  for (const auto& [name, number] : library_versions()) print(fmt::format("{:<14}{}\n", name, number));
  print(fmt::format("{:<14}{}\n", "MPI", version.empty() ? "none: training by one process only" : version));
  return kExitDone;
}

}  // namespace

Action declare_version(Options&) {
  return show;
}

}  // namespace tril::cli
