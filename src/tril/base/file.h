// Files: whole reads, atomic writes, read-only maps. Every write that matters goes through here, so that a fault
// can be injected at the n-th write, flush or rename (tests) and none leaves a half-written file.
#pragma once
#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

namespace tril {

/// The whole file. Throws Refusal that names the file and the system's reason.
std::string read_file(const std::string& path);

/// Writes beside `path` under a temporary name, flushes to disk, renames over `path`, flushes the folder.
/// On failure throws Refusal, removes the temporary file, and `path` is as it was.
void write_file_atomically(const std::string& path, std::string_view bytes);

/// Read-only map of a file. Throws Refusal where it can't be opened or mapped. An empty file gives an empty view.
class MappedFile {
 public:
  explicit MappedFile(const std::string& path);
  ~MappedFile();
  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&&) = delete;
  std::string_view bytes() const { return {data_, size_}; }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
  const char* data_ = nullptr;
  size_t size_ = 0;
};

}  // namespace tril
