// Modules that are loaded on need.
#include "tril/base/module.h"

#include <dlfcn.h>

#include <filesystem>
#include <system_error>

namespace tril {
namespace fs = std::filesystem;

std::vector<std::string> module_paths(const std::string& file) {
  std::error_code none;
  const fs::path folder = fs::read_symlink("/proc/self/exe", none).parent_path();
  return {(folder / file).string(), (folder / ".." / TRIL_LIBDIR / "tril" / file).lexically_normal().string(),
          (fs::path(TRIL_FULL_LIBDIR) / "tril" / file).string()};
}

LoadedModule load_module(const std::vector<std::string>& paths, const char* symbol) {
  LoadedModule module;
  std::error_code none;
  for (const std::string& path : paths) {
    if (!fs::exists(path, none)) continue;
    module.path = path;
    void* opened = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (opened == nullptr) {
      const char* why = ::dlerror();
      module.why = why != nullptr ? why : path;
      return module;
    }
    module.opened = true;
    module.symbol = ::dlsym(opened, symbol);
    return module;
  }
  return module;
}

}  // namespace tril
