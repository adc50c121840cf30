// What this program is made of: versions and the vector level. A run's state holds them, since bits may
// differ between them. What it leaves out: libraries that are loaded on need (libcurl, MPI).
#pragma once
#include <string>
#include <utility>
#include <vector>

namespace tril {

/// "0.1.0".
std::string program_version();
/// "GCC 12.2.0".
std::string compiler_version();
/// The vector instructions that the fast kernels use on this machine, by Highway's name: "AVX3", "AVX2",
/// "SSE4" …
std::string vector_level();
/// "2.6.3", or "none" where matrix products go to Eigen.
std::string onednn_version();
/// (library, version), in a fixed order; oneDNN first.
std::vector<std::pair<std::string, std::string>> library_versions();

}  // namespace tril
