// module: a shared object that is loaded on need, since linking its libraries would cost every start of the
// program several milliseconds (docs/decisions/001). A C function is the border, so no C++ type crosses it.
// What it leaves out: unloading.
#pragma once
#include <string>
#include <vector>

namespace tril {

/// Where a module is looked for, in order: beside the program, in the lib folder beside its bin, in the lib
/// folder it was configured for.
std::vector<std::string> module_paths(const std::string& file);

struct LoadedModule {
  std::string path;        // the first that is there; empty: none is
  bool opened = false;     // with all the libraries that it needs
  std::string why;         // where it is not: the system's words
  void* symbol = nullptr;  // null: it has none of that name
};

/// Opens the first of `paths` that is there, for the rest of the program's life.
LoadedModule load_module(const std::vector<std::string>& paths, const char* symbol);

}  // namespace tril
