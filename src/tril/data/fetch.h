// tril data fetch: public texts from their pinned addresses, each held to its pinned SHA-256 before it gets
// its name. Resumable (FILE.part), atomic (renamed when whole and right). libcurl sits in the module
// tril_fetch, loaded here. What it leaves out: mirrors, archives, anything that isn't in the table.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tril {

struct FetchSource {
  std::string name;    // "tinyshakespeare"
  std::string file;    // usual name of the file here
  std::string url;     // of one fixed revision
  int64_t bytes;       // exact size
  std::string sha256;  // 64 lower-case hex digits
  std::string licence;
};

/// The pinned table.
const std::vector<FetchSource>& fetch_sources();
/// Refuses an unknown name with the nearest one.
const FetchSource& find_fetch_source(std::string_view name);

struct FetchOptions {
  double stall_seconds = 30;  // nothing comes for so long: give up, keep FILE.part
  int max_redirects = 5;
  std::vector<std::string>
      modules;  // where tril_fetch.so is looked for, in order; empty: fetch_module_paths()
};

struct FetchResult {
  bool already;          // the file was there and right; nothing was fetched
  int64_t resumed_from;  // bytes that an earlier try had left
};

/// Fetches `source` into `path` (its folders are made). A right file already there is left as it is; another
/// file there is refused. On a network failure FILE.part stays and the next call goes on from it; where the
/// size or the digest is wrong it is deleted. Two calls for one path: the second is refused. Notes and
/// progress go to standard error. Throws Refusal: what failed, what is kept, what to do.
FetchResult fetch(const FetchSource& source, const std::string& path, const FetchOptions& options = {});

/// Beside the program, in the lib folder beside its bin, in the lib folder it was configured for.
std::vector<std::string> fetch_module_paths();

}  // namespace tril
