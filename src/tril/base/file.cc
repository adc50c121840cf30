#include "tril/base/file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "tril/base/error.h"

namespace tril {
namespace {
std::string reason() { return std::strerror(errno); }

struct Descriptor {
  int fd;
  ~Descriptor() {
    if (fd >= 0) ::close(fd);
  }
};

Descriptor open_regular(const std::string& path, size_t& size) {
  Descriptor file{::open(path.c_str(), O_RDONLY | O_CLOEXEC)};
  struct stat status {};
  if (file.fd < 0 || ::fstat(file.fd, &status) != 0) refuse("{}: can't be read: {}", path, reason());
  if (S_ISDIR(status.st_mode)) refuse("{}: is a folder, a file is needed", path);
  size = static_cast<size_t>(status.st_size);
  return file;
}
}  // namespace

std::string read_file(const std::string& path) {
  size_t size = 0;
  const Descriptor file = open_regular(path, size);
  std::string bytes;
  bytes.reserve(size + 1);
  char block[65536];
  for (;;) {  // a pipe has no size, so the end is found by reading
    const ssize_t got = ::read(file.fd, block, sizeof block);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) refuse("{}: can't be read: {}", path, reason());
    if (got == 0) return bytes;
    bytes.append(block, static_cast<size_t>(got));
  }
}

void write_file_atomically(const std::string& path, std::string_view bytes) {
  const std::string temporary = path + ".tmp";
  const auto fail = [&](const char* what) {
    const std::string why = reason();
    ::unlink(temporary.c_str());
    refuse("{}: can't be {}: {}", path, what, why);
  };
  {
    const Descriptor file{::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666)};
    if (file.fd < 0) fail("written");
    for (size_t done = 0; done < bytes.size();) {
      const ssize_t put = ::write(file.fd, bytes.data() + done, bytes.size() - done);
      if (put < 0 && errno == EINTR) continue;
      if (put < 0) fail("written");
      done += static_cast<size_t>(put);
    }
    if (::fsync(file.fd) != 0) fail("flushed to disk");
  }
  if (::rename(temporary.c_str(), path.c_str()) != 0) fail("renamed into place");
  const std::filesystem::path parent = std::filesystem::path(path).parent_path();
  const Descriptor folder{::open(parent.empty() ? "." : parent.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
  if (folder.fd >= 0) ::fsync(folder.fd);
}

MappedFile::MappedFile(const std::string& path) : path_(path) {
  const Descriptor file = open_regular(path, size_);
  if (size_ == 0) return;
  void* data = ::mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, file.fd, 0);
  if (data == MAP_FAILED) refuse("{}: can't be mapped: {}", path, reason());
  data_ = static_cast<const char*>(data);
}

MappedFile::~MappedFile() {
  if (data_ != nullptr) ::munmap(const_cast<char*>(data_), size_);
}

MappedFile::MappedFile(MappedFile&& other) noexcept
    : path_(std::move(other.path_)), data_(other.data_), size_(other.size_) {
  other.data_ = nullptr;
  other.size_ = 0;
}

}  // namespace tril
