// Versions of the program, the compiler and the libraries.
#include "tril/base/build_info.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <fmt/format.h>
#include <hwy/base.h>
#include <hwy/highway.h>
#include <hwy/targets.h>
#include <openssl/crypto.h>
#include <pcre2.h>
#include <utf8proc.h>
#include <zlib.h>

#include <Eigen/src/Core/util/Macros.h>
#if __has_include(<toml++/impl/version.hpp>)  // since toml++ 3.4
#include <toml++/impl/version.hpp>
#else
#include <toml++/impl/version.h>
#endif
#include <CLI/Version.hpp>
#include <nlohmann/detail/abi_macros.hpp>

#ifdef TRIL_HAVE_DNNL
#include <oneapi/dnnl/dnnl.h>
#endif

namespace tril {

std::string program_version() {
  return TRIL_VERSION;
}

std::string compiler_version() {
#ifdef __clang__
  return fmt::format("Clang {}.{}.{}", __clang_major__, __clang_minor__, __clang_patchlevel__);
#else
  return fmt::format("GCC {}.{}.{}", __GNUC__, __GNUC_MINOR__, __GNUC_PATCHLEVEL__);
#endif
}

std::string vector_level() {
  const int64_t usable = hwy::SupportedTargets() & HWY_TARGETS;
  return hwy::TargetName(usable & -usable);  // better targets have lower bits
}

std::string onednn_version() {
#ifdef TRIL_HAVE_DNNL
  const dnnl_version_t* version = dnnl_version();
  return fmt::format("{}.{}.{}", version->major, version->minor, version->patch);
#else
  return "none";
#endif
}

std::vector<std::pair<std::string, std::string>> library_versions() {
  char pcre[64] = "";
  pcre2_config(PCRE2_CONFIG_VERSION, pcre);
  const std::string pcre_text(pcre);
  return {
      {"oneDNN", onednn_version()},
      {"Highway", fmt::format("{}.{}.{}", HWY_MAJOR, HWY_MINOR, HWY_PATCH)},
      {"Eigen", fmt::format("{}.{}.{}", EIGEN_WORLD_VERSION, EIGEN_MAJOR_VERSION, EIGEN_MINOR_VERSION)},
      {"PCRE2", pcre_text.substr(0, pcre_text.find(' '))},
      {"utf8proc", utf8proc_version()},
      {"nlohmann-json", fmt::format("{}.{}.{}", NLOHMANN_JSON_VERSION_MAJOR, NLOHMANN_JSON_VERSION_MINOR,
                                    NLOHMANN_JSON_VERSION_PATCH)},
      {"toml++", fmt::format("{}.{}.{}", TOML_LIB_MAJOR, TOML_LIB_MINOR, TOML_LIB_PATCH)},
      {"CLI11", CLI11_VERSION},
      {"fmt", fmt::format("{}.{}.{}", FMT_VERSION / 10000, FMT_VERSION / 100 % 100, FMT_VERSION % 100)},
      {"zlib", zlibVersion()},
      {"libcrypto", OpenSSL_version(OPENSSL_VERSION_STRING)},
  };
}

}  // namespace tril
