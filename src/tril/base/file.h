// Files: whole reads, atomic writes, appended lines, folders that appear at once, read-only maps. Every
// change to the disk that matters goes through here and can be made to fail on order (base/fault.h).
// docs/files.md tells the rules. What it leaves out: locks between processes (base/lock.h).
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "tril/base/hash.h"

namespace tril {

/// The whole file. Throws Refusal that names the file and the system's reason.
std::string read_file(const std::string& path);

/// A file being written, from its first byte on. Each write() goes to the system at once: nothing is held
/// back here. Every failure throws Refusal that names the file and the reason.
class FileWriter {
 public:
  /// Creates the file, or empties it. `shown_path` is the name that errors tell (default: path).
  explicit FileWriter(const std::string& path, const std::string& shown_path = "");
  ~FileWriter();
  FileWriter(const FileWriter&) = delete;
  FileWriter& operator=(const FileWriter&) = delete;

  void write(std::string_view bytes);
  /// From now on, bytes written enter digest().
  void start_digest();
  /// SHA-256 of the bytes written since start_digest().
  Digest digest();
  /// Bytes written so far.
  uint64_t size() const { return size_; }
  /// Lets the system begin to put the bytes on the disk, so that finish() has less to wait for.
  void begin_flush();
  /// Waits until the bytes are on the disk, then closes the file.
  void finish();

 private:
  std::string shown_path_;
  int fd_ = -1;
  uint64_t size_ = 0;
  std::unique_ptr<Sha256> hash_;
};

/// A file written beside its place under a temporary name. Where it is not renamed to its place, it is
/// removed again.
class PendingFile {
 public:
  /// `path` must not be a device, pipe or folder.
  explicit PendingFile(const std::string& path);
  ~PendingFile();
  PendingFile(const PendingFile&) = delete;
  PendingFile& operator=(const PendingFile&) = delete;

  FileWriter& writer() { return *writer_; }
  /// writer().finish() if need be, then renames. The folder is left for the caller to flush.
  void rename();

 private:
  std::string path_, target_, temporary_;
  std::unique_ptr<FileWriter> writer_;
};

/// Writes a PendingFile, flushes it to disk, renames it over `path`, flushes the folder.
/// On failure throws Refusal, removes the temporary file, and `path` is as it was. A link is followed; where
/// `path` is a device or a pipe, the bytes are simply written to it.
void write_file_atomically(const std::string& path, std::string_view bytes);
/// The same for bytes that `body` writes piece by piece.
void write_file_atomically(const std::string& path, const std::function<void(FileWriter&)>& body);

/// A file of lines that grows at its end. A line is written whole, in one write; where that fails, what was
/// written of it is cut off again and Refusal is thrown.
class LineFile {
 public:
  /// Opens or creates. A last line without its newline (a process died in mid-write) is cut off.
  explicit LineFile(const std::string& path);
  ~LineFile();
  LineFile(LineFile&& other) noexcept;
  LineFile& operator=(LineFile&&) = delete;

  /// Appends `line` (which has no newline) and a newline. The system has it afterwards, the disk after
  /// flush().
  void append(std::string_view line);
  void begin_flush();
  void flush();
  /// Shortens the file to its first `bytes` bytes.
  void cut(uint64_t bytes);
  uint64_t size() const { return size_; }

 private:
  std::string path_;
  int fd_ = -1;
  uint64_t size_ = 0;
};

/// A folder that appears whole or not at all: its files are written (FileWriter, each finished) into folder()
/// under a temporary name, and commit() renames it to its place. Without commit() it is removed again.
class FolderWriter {
 public:
  /// Makes the temporary folder beside `path`. Throws Refusal where it can't.
  explicit FolderWriter(const std::string& path);
  ~FolderWriter();
  FolderWriter(const FolderWriter&) = delete;
  FolderWriter& operator=(const FolderWriter&) = delete;

  /// Where to write the files.
  const std::string& folder() const { return temporary_; }
  /// Flushes the folder, renames it to `path`, flushes the parent. Throws Refusal where `path` exists and
  /// holds anything, or where the disk fails.
  void commit();

 private:
  std::string path_, temporary_;
};

/// Makes the folder and its parents; returns those made, outermost first. Throws Refusal.
std::vector<std::string> make_folders(const std::string& path);
/// Refuses where make_folders(path) could not make it, or where it exists and can't be written, as far as the
/// system tells without trying.
void require_writable(const std::string& path);
/// Refuses where no file can be made and written in `folder`. Leaves nothing behind.
void probe_folder(const std::string& folder);
/// Removes a file, or a folder and all in it. The folder vanishes at once (it is renamed first), so a process
/// that dies here leaves temporary files only. Nothing there is no error. Throws Refusal.
void remove_path(const std::string& path);
/// Renames a file or folder; what stands at `to` is removed first. Throws Refusal.
void move_path(const std::string& from, const std::string& to);
/// Waits until the entries of a folder (names made, renamed, removed) are on the disk.
void flush_folder(const std::string& folder);

/// Names (not paths) in a folder, sorted bytewise. Throws Refusal.
std::vector<std::string> list_folder(const std::string& folder);
bool file_exists(const std::string& path);
bool folder_exists(const std::string& path);
/// True where the system says that there is nothing of that name; false also where it can't be told.
bool surely_missing(const std::string& path);
/// True for names that this program gives to unfinished files and folders.
bool is_temporary_name(std::string_view name);
/// Removes unfinished files and folders that a dead process left in `folder`. Only for a folder that is
/// locked.
void remove_temporaries(const std::string& folder);

/// Read-only map of a file. Throws Refusal where it can't be opened or mapped. An empty file gives an empty
/// view.
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
