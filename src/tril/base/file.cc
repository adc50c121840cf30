#include "tril/base/file.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>

#include "tril/base/error.h"
#include "tril/base/fault.h"
#include "tril/base/interrupt.h"
#include "tril/base/read_stream.h"

namespace tril {
namespace {
using fault::Effect;
using fault::Operation;

constexpr std::string_view kTemporary = ".tril-tmp-";

std::string reason() {
  return std::strerror(errno);
}

[[noreturn]] void refuse_errno(const std::string& path, const char* what) {
  refuse("{}: can't be {}: {}", path, what, reason());
}

struct Descriptor {
  int fd;
  ~Descriptor() {
    if (fd >= 0) ::close(fd);
  }
};

// The faulty_ functions stand for the system calls that change the disk: each asks base/fault.h first.

bool fails(Operation operation) {
  switch (fault::next(operation)) {
    case Effect::kError:
      errno = EIO;
      return true;
    case Effect::kFull:
      errno = ENOSPC;
      return operation == Operation::kWrite || operation == Operation::kCreate;
    case Effect::kKill:
      ::_exit(fault::kKilled);
    case Effect::kShort:
    case Effect::kNone:
      break;
  }
  return false;
}

ssize_t faulty_write(int fd, const char* data, size_t size) {
  switch (fault::next(Operation::kWrite)) {
    case Effect::kError:
      errno = EIO;
      return -1;
    case Effect::kFull:
      if (size > 1 && ::write(fd, data, size / 2) < 0) return -1;
      errno = ENOSPC;
      return -1;
    case Effect::kKill:
      if (size > 1 && ::write(fd, data, size / 2) < 0) ::_exit(fault::kKilled);
      ::_exit(fault::kKilled);
    case Effect::kShort:
      return ::write(fd, data, (size + 1) / 2);
    case Effect::kNone:
      break;
  }
  return ::write(fd, data, size);
}

int faulty_flush(int fd) {
  if (fails(Operation::kFlush)) return -1;
  int result = ::fsync(fd);
  while (result != 0 && errno == EINTR) result = ::fsync(fd);
  if (result == 0) return 0;
  return errno == EINVAL || errno == EROFS ? 0 : -1;  // a device or file system that has nothing to flush
}

int faulty_rename(const std::string& from, const std::string& to) {
  return fails(Operation::kRename) ? -1 : ::rename(from.c_str(), to.c_str());
}

int faulty_remove(const std::string& path) {
  return fails(Operation::kRemove) ? -1 : ::remove(path.c_str());
}

int faulty_open(const std::string& path, int flags) {
  return fails(Operation::kCreate) ? -1 : ::open(path.c_str(), flags | O_CREAT | O_CLOEXEC, 0666);
}

int faulty_mkdir(const std::string& path) {
  return fails(Operation::kCreate) ? -1 : ::mkdir(path.c_str(), 0777);
}

int faulty_cut(int fd, uint64_t size) {
  return fails(Operation::kCut) ? -1 : ::ftruncate(fd, static_cast<off_t>(size));
}

/// Writes all of it, or returns false with errno set.
bool write_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t put = faulty_write(fd, bytes.data(), bytes.size());
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) return false;
    bytes.remove_prefix(static_cast<size_t>(put));
  }
  return true;
}

std::string parent_of(const std::string& path) {
  const std::string parent = std::filesystem::path(path).parent_path().string();
  return parent.empty() ? "." : parent;
}

/// A name beside `path` that no living process of this machine uses.
std::string temporary_name(const std::string& path) {
  static std::atomic<uint64_t> next{0};
  return fmt::format("{}{}{}-{}", path, kTemporary, ::getpid(), next++);
}

/// A device may bring bytes for ever, and no limit would make sense of them. A terminal ends with Ctrl-D.
void refuse_endless(const std::string& path, const Descriptor& file, const struct stat& status) {
  const bool device = S_ISCHR(status.st_mode) || S_ISBLK(status.st_mode);
  if (!device || ::isatty(file.fd) == 1 || status.st_rdev == ::makedev(1, 3)) return;  // 1, 3: /dev/null
  refuse("{}: is a device, which need not end; write the part that is meant to a file first", path);
}

Descriptor open_regular(const std::string& path, size_t& size) {
  Descriptor file{open_to_read(path)};
  struct stat status {};
  if (file.fd < 0 || ::fstat(file.fd, &status) != 0) refuse_errno(path, "read");
  if (S_ISDIR(status.st_mode)) refuse("{}: is a folder, a file is needed", path);
  refuse_endless(path, file, status);
  size = static_cast<size_t>(status.st_size);
  return file;
}

/// Where a write to `path` must end up: the target of a link, else `path` itself.
std::string resolved(const std::string& path) {
  std::error_code error;
  if (!std::filesystem::is_symlink(path, error)) return path;
  const auto target = std::filesystem::weakly_canonical(path, error);
  return error ? path : target.string();
}

void remove_tree(const std::string& path) {
  if (folder_exists(path) && !std::filesystem::is_symlink(path)) {
    for (const std::string& name : list_folder(path)) remove_tree(path + "/" + name);
  }
  if (faulty_remove(path) != 0 && errno != ENOENT) refuse_errno(path, "removed");
}

/// For destructors: removes what it can.
void remove_tree_quietly(const std::string& path) noexcept {
  try {
    remove_tree(path);
  } catch (const std::exception&) {  // it stays under its temporary name; the folder's next owner removes it
  }
}
}  // namespace

std::string read_file(const std::string& path) {
  size_t size = 0;
  const Descriptor file = open_regular(path, size);
  if (size == 0) return read_stream(file.fd, path);  // a pipe has no size; nor have files of /proc
  std::string bytes;
  bytes.reserve(size + 1);
  char block[65536];
  for (;;) {  // a file may have grown since
    interrupt::check();
    const ssize_t got = ::read(file.fd, block, sizeof block);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) refuse_errno(path, "read");
    if (got == 0) return bytes;
    bytes.append(block, static_cast<size_t>(got));
  }
}

FileWriter::FileWriter(const std::string& path, const std::string& shown_path)
    : shown_path_(shown_path.empty() ? path : shown_path), fd_(faulty_open(path, O_WRONLY | O_TRUNC)) {
  if (fd_ < 0) refuse_errno(shown_path_, "written");
}

FileWriter::~FileWriter() {
  if (fd_ >= 0) ::close(fd_);
}

void FileWriter::write(std::string_view bytes) {
  if (!write_all(fd_, bytes)) refuse_errno(shown_path_, "written");
  size_ += bytes.size();
  if (hash_) hash_->add(bytes);
}

void FileWriter::start_digest() {
  hash_ = std::make_unique<Sha256>();
}
Digest FileWriter::digest() {
  return hash_->digest();
}

void FileWriter::begin_flush() {
  ::sync_file_range(fd_, 0, 0, SYNC_FILE_RANGE_WRITE);
}

void FileWriter::finish() {
  if (fd_ < 0) return;
  if (faulty_flush(fd_) != 0) refuse_errno(shown_path_, "flushed to disk");
  const int fd = fd_;
  fd_ = -1;
  if (::close(fd) != 0) refuse_errno(shown_path_, "written");
}

PendingFile::PendingFile(const std::string& path)
    : path_(path), target_(resolved(path)), temporary_(temporary_name(target_)) {
  writer_ = std::make_unique<FileWriter>(temporary_, path);
}

PendingFile::~PendingFile() {
  if (!temporary_.empty() && file_exists(temporary_)) remove_tree_quietly(temporary_);
}

void PendingFile::rename() {
  writer_->finish();
  if (faulty_rename(temporary_, target_) != 0) refuse_errno(path_, "renamed into place");
  temporary_.clear();
}

void write_file_atomically(const std::string& path, const std::function<void(FileWriter&)>& body) {
  struct stat status {};
  const bool exists = ::stat(path.c_str(), &status) == 0;
  if (exists && S_ISDIR(status.st_mode)) refuse("{}: is a folder, a file is needed", path);
  if (exists && !S_ISREG(status.st_mode)) {
    FileWriter device(path);
    body(device);
    return;
  }
  PendingFile file(path);
  body(file.writer());
  file.rename();
  flush_folder(parent_of(resolved(path)));
}

void write_file_atomically(const std::string& path, std::string_view bytes) {
  write_file_atomically(path, [bytes](FileWriter& file) { file.write(bytes); });
}

LineFile::LineFile(const std::string& path) : path_(path), fd_(faulty_open(path, O_RDWR | O_APPEND)) {
  if (fd_ < 0) refuse_errno(path, "written");
  try {
    struct stat status {};
    if (::fstat(fd_, &status) != 0 || !S_ISREG(status.st_mode))
      refuse("{}: is a device or a pipe; a file is needed", path);
    const std::string bytes = read_file(path);
    size_ = bytes.size();
    const size_t newline = bytes.rfind('\n');
    const uint64_t whole = newline == bytes.npos ? 0 : newline + 1;
    if (whole != size_) cut(whole);
  } catch (...) {
    ::close(fd_);
    throw;
  }
}

LineFile::~LineFile() {
  if (fd_ >= 0) ::close(fd_);
}

LineFile::LineFile(LineFile&& other) noexcept
    : path_(std::move(other.path_)), fd_(other.fd_), size_(other.size_) {
  other.fd_ = -1;
}

void LineFile::append(std::string_view line) {
  std::string whole(line);
  whole.push_back('\n');
  if (!write_all(fd_, whole)) {
    const int error = errno;
    if (faulty_cut(fd_, size_) != 0) errno = error;  // the torn line is cut off when the file is opened next
    errno = error;
    refuse_errno(path_, "written");
  }
  size_ += whole.size();
}

void LineFile::begin_flush() {
  ::sync_file_range(fd_, 0, 0, SYNC_FILE_RANGE_WRITE);
}

void LineFile::flush() {
  if (faulty_flush(fd_) != 0) refuse_errno(path_, "flushed to disk");
}

void LineFile::cut(uint64_t bytes) {
  if (faulty_cut(fd_, bytes) != 0) refuse_errno(path_, "shortened");
  size_ = bytes;
}

FolderWriter::FolderWriter(const std::string& path) : path_(path), temporary_(temporary_name(path)) {
  if (faulty_mkdir(temporary_) != 0) refuse_errno(path_, "written");
}

FolderWriter::~FolderWriter() {
  if (!temporary_.empty()) remove_tree_quietly(temporary_);
}

void FolderWriter::commit() {
  flush_folder(temporary_);
  if (faulty_rename(temporary_, path_) != 0) refuse_errno(path_, "renamed into place");
  temporary_.clear();
  flush_folder(parent_of(path_));
}

std::vector<std::string> make_folders(const std::string& path) {
  std::vector<std::string> made;
  try {
    std::string part;
    for (size_t at = 0; at < path.size(); at = part.size()) {
      part = path.substr(0, path.find('/', at + 1));
      if (folder_exists(part)) continue;
      const bool is_new = faulty_mkdir(part) == 0;
      if (!is_new && errno != EEXIST && errno != ENOTDIR) refuse_errno(path, "made");
      if (!folder_exists(part)) refuse("{}: can't be made: {} is no folder", path, part);
      if (is_new) made.push_back(part);
    }
    for (const std::string& folder : made) flush_folder(parent_of(folder));
  } catch (...) {
    for (auto folder = made.rbegin(); folder != made.rend(); ++folder) ::rmdir(folder->c_str());
    throw;
  }
  return made;
}

void require_writable(const std::string& path) {
  std::string existing = path;
  while (surely_missing(existing) && existing != parent_of(existing)) existing = parent_of(existing);
  if (!folder_exists(existing)) refuse("{}: can't be made: {} is no folder", path, existing);
  if (::access(existing.c_str(), W_OK | X_OK) != 0) refuse_errno(path, existing == path ? "written" : "made");
}

void probe_folder(const std::string& folder) {
  const std::string probe = temporary_name(folder + "/probe");
  try {
    FileWriter file(probe, folder);
    file.write("probe");
    file.finish();
    remove_tree(probe);
  } catch (...) {
    if (file_exists(probe)) remove_tree_quietly(probe);
    throw;
  }
}

void remove_path(const std::string& path) {
  if (!folder_exists(path)) {
    if (faulty_remove(path) != 0 && errno != ENOENT) refuse_errno(path, "removed");
    return;
  }
  const std::string temporary = temporary_name(path);
  if (faulty_rename(path, temporary) != 0) refuse_errno(path, "removed");
  remove_tree(temporary);
}

void move_path(const std::string& from, const std::string& to) {
  if (!surely_missing(to)) remove_path(to);
  if (faulty_rename(from, to) != 0) refuse_errno(from, "renamed");
}

void flush_folder(const std::string& folder) {
  const Descriptor opened{::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
  if (opened.fd < 0 || faulty_flush(opened.fd) != 0) refuse_errno(folder, "flushed to disk");
}

std::vector<std::string> list_folder(const std::string& folder) {
  DIR* const opened = ::opendir(folder.c_str());
  if (opened == nullptr) refuse_errno(folder, "read");
  std::vector<std::string> names;
  while (const dirent* entry = ::readdir(opened)) {
    const std::string_view name = entry->d_name;
    if (name != "." && name != "..") names.emplace_back(name);
  }
  ::closedir(opened);
  std::sort(names.begin(), names.end());
  return names;
}

bool file_exists(const std::string& path) {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0 && !S_ISDIR(status.st_mode);
}

bool folder_exists(const std::string& path) {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode);
}

bool surely_missing(const std::string& path) {
  struct stat status {};
  return ::lstat(path.c_str(), &status) != 0 && (errno == ENOENT || errno == ENOTDIR);
}

bool is_temporary_name(std::string_view name) {
  return name.find(kTemporary) != name.npos;
}

void remove_temporaries(const std::string& folder) {
  for (const std::string& name : list_folder(folder)) {
    if (is_temporary_name(name)) remove_tree(folder + "/" + name);
  }
}

MappedFile::MappedFile(const std::string& path) : path_(path) {
  const Descriptor file = open_regular(path, size_);
  if (size_ == 0) return;
  void* data = ::mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, file.fd, 0);
  if (data == MAP_FAILED) refuse_errno(path, "mapped");
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
