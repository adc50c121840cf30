#include "tril/data/fetch.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <optional>

#include "tril/base/error.h"
#include "tril/base/fault.h"
#include "tril/base/file.h"
#include "tril/base/hash.h"
#include "tril/base/interrupt.h"
#include "tril/base/log.h"
#include "tril/base/module.h"
#include "tril/base/progress.h"
#include "tril/base/suggest.h"
#include "tril/base/table.h"
#include "tril/data/fetch_module.h"

namespace tril {
namespace fs = std::filesystem;
namespace {

std::string reason() {
  return std::strerror(errno);
}

/// True where a test has ordered this operation to fail (base/fault.h).
bool ordered_to_fail(fault::Operation operation) {
  const fault::Effect effect = fault::next(operation);
  if (effect == fault::Effect::kKill) ::_exit(fault::kKilled);
  errno = effect == fault::Effect::kFull ? ENOSPC : EIO;
  return effect == fault::Effect::kError || effect == fault::Effect::kFull;
}

/// FILE.part, locked while this process writes it. Kept at the end, unless removed or renamed.
class PartFile {
 public:
  explicit PartFile(const std::string& target) : target_(target), path_(target + ".part") {
    fd_ = ::open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (fd_ < 0) refuse("{}: can't be written: {}", path_, reason());
    if (::flock(fd_, LOCK_EX | LOCK_NB) != 0) {
      ::close(fd_);
      refuse("{}: another fetch is writing it; wait for that one", path_);
    }
    struct stat status {};
    if (::fstat(fd_, &status) == 0) size_ = status.st_size;
    ::lseek(fd_, 0, SEEK_END);
  }
  ~PartFile() {
    if (size_ == 0) remove();  // an empty one helps nobody
    ::close(fd_);
  }
  PartFile(const PartFile&) = delete;
  PartFile& operator=(const PartFile&) = delete;

  const std::string& path() const { return path_; }
  int64_t size() const { return size_; }

  void clear() {
    if (::ftruncate(fd_, 0) != 0 || ::lseek(fd_, 0, SEEK_SET) != 0)
      refuse("{}: can't be cut: {}", path_, reason());
    size_ = 0;
  }
  /// False where the system refuses (a full disk); then errno says why.
  bool append(const char* data, size_t size) {
    while (size > 0) {
      const ssize_t put = ordered_to_fail(fault::Operation::kWrite) ? -1 : ::write(fd_, data, size);
      if (put < 0 && errno == EINTR) continue;
      if (put <= 0) return false;
      data += put;
      size -= static_cast<size_t>(put);
      size_ += put;
    }
    return true;
  }
  void remove() {
    if (exists_) ::unlink(path_.c_str());
    exists_ = false;
  }
  void move_into_place() {
    if (ordered_to_fail(fault::Operation::kFlush) || ::fsync(fd_) != 0)
      refuse("{}: can't be flushed to disk: {}", path_, reason());
    if (ordered_to_fail(fault::Operation::kRename) || ::rename(path_.c_str(), target_.c_str()) != 0)
      refuse("{}: can't be renamed into place: {}", target_, reason());
    exists_ = false;
    const std::string folder = fs::path(target_).parent_path().string();
    flush_folder(folder.empty() ? "." : folder);
  }

 private:
  std::string target_, path_;
  int fd_ = -1;
  int64_t size_ = 0;
  bool exists_ = true;
};

/// What one answer of the server did to the part.
struct Answer {
  const FetchSource& source;
  PartFile& part;
  Progress& progress;
  bool again = false;     // the rest can't be had; ask for the whole
  bool drop = false;      // what came is not the file: keep nothing of it
  std::string refusal{};  // why this answer was stopped
};

int on_head(void* context, long status, int64_t length, int64_t range_begin) {
  Answer& answer = *static_cast<Answer*>(context);
  const int64_t have = answer.part.size();
  const bool unusable_range = status == 416 || (status == 206 && range_begin != have);
  if (unusable_range && have > 0) {
    answer.again = true;
    return 1;
  }
  if (status != 200 && (status != 206 || have == 0)) {
    answer.refusal = fmt::format("the server answers {}{}", status, status == 404 ? " (not found)" : "");
    return 1;
  }
  const int64_t rest = answer.source.bytes - (status == 206 ? have : 0);
  if (length >= 0 && length != rest) {
    answer.refusal = fmt::format("the server announces {} bytes where {} are due: it holds another file",
                                 with_commas(length), with_commas(rest));
    return 1;
  }
  try {
    if (status == 200 && have > 0) answer.part.clear();  // the server ignores ranges: from the start again
  } catch (const Error& error) {
    answer.refusal = error.what();
    return 1;
  }
  return 0;
}

/// Non-zero stops the transfer: no exception may pass through libcurl.
int on_tick(void* context) {
  Answer& answer = *static_cast<Answer*>(context);
  answer.progress.update(answer.part.size());
  return interrupt::requested() ? 1 : 0;
}

int on_body(void* context, const char* data, size_t size) {
  Answer& answer = *static_cast<Answer*>(context);
  if (answer.part.size() + static_cast<int64_t>(size) > answer.source.bytes) {
    answer.drop = true;
    answer.refusal =
        fmt::format("the server sends more than the {} bytes that are due: it holds another file",
                    with_commas(answer.source.bytes));
    return 1;
  }
  if (!answer.part.append(data, size)) {
    answer.refusal = fmt::format("{} can't be written: {}", answer.part.path(), reason());
    return 1;
  }
  return on_tick(context);
}

TrilHttpGet http_get_of(const std::vector<std::string>& paths) {
  const LoadedModule module = load_module(paths, "tril_http_get");
  if (module.symbol != nullptr) return reinterpret_cast<TrilHttpGet>(module.symbol);
  if (module.path.empty())
    refuse(
        "data fetch needs its module tril_fetch.so, which is built where libcurl is: install the package "
        "libcurl4-openssl-dev and build tril again (looked for {})",
        fmt::join(paths, ", "));
  if (!module.opened)
    refuse("data fetch needs libcurl: install the package libcurl4-openssl-dev ({})", module.why);
  refuse("{}: is not tril's module for data fetch; build tril again", module.path);
}

std::string kept(const PartFile& part, int64_t bytes) {
  if (part.size() == 0) return "; try again later";
  return fmt::format("; {} of {} bytes are kept in {}: the same command goes on from there",
                     with_commas(part.size()), with_commas(bytes), part.path());
}

void download(const FetchSource& source, PartFile& part, const FetchOptions& options, TrilHttpGet get) {
  for (bool again = true; again;) {
    ProgressOptions shown;
    shown.bytes = true;
    shown.start = part.size();
    Progress progress("fetch " + source.name, source.bytes, shown);
    Answer answer{source, part, progress};
    const TrilHttpRequest request = {source.url.c_str(),
                                     "tril",
                                     part.size(),
                                     options.max_redirects,
                                     options.stall_seconds,
                                     &answer,
                                     on_head,
                                     on_body,
                                     on_tick};
    TrilHttpReply reply{};
    {
      const interrupt::Postpone within_libcurl;
      get(&request, &reply);
    }
    progress.finish();
    if (interrupt::requested())
      throw Interrupted(interrupt::exit_code(), "interrupted" + kept(part, source.bytes));
    again = answer.again;
    if (again) {
      part.clear();
      continue;
    }
    if (answer.drop) {
      part.clear();
      refuse("{}: {}; nothing is kept", source.url, answer.refusal);
    }
    if (!answer.refusal.empty())
      refuse("{}: {}{}", source.url, answer.refusal, part.size() > 0 ? kept(part, source.bytes) : "");
    if (reply.outcome == kTrilHttpRefused) refuse("{}: {}", source.url, reply.text);
    if (reply.outcome != kTrilHttpDone) refuse("{}: {}{}", source.url, reply.text, kept(part, source.bytes));
    if (part.size() < source.bytes)
      refuse("{}: the answer ends early{}", source.url, kept(part, source.bytes));
  }
}

}  // namespace

const std::vector<FetchSource>& fetch_sources() {
  static const std::vector<FetchSource> table = {
      {"tinystories", "tinystories.txt",
       "https://huggingface.co/datasets/roneneldan/TinyStories/resolve/"
       "f54c09fd23315a6f9c86f9dc80f725de7d8f9c64/"
       "TinyStoriesV2-GPT4-valid.txt",
       22502601, "6874bae9a4c1a4e7edcf0e53b86c17817e9cf881fc75ff2368da457b80c0585d", "CDLA-Sharing-1.0"},
      {"tinyshakespeare", "tinyshakespeare.txt",
       "https://raw.githubusercontent.com/karpathy/char-rnn/6f9487a6fe5b420b7ca9afb0d7c078e37c1d1b4e/data/"
       "tinyshakespeare/input.txt",
       1115394, "86c4e6aa9db7c042ec79f339dcb96d42b0075e16b8fc2e86bf0ca57e2dc565ed", "public domain"},
  };
  return table;
}

const FetchSource& find_fetch_source(std::string_view name) {
  std::vector<std::string> names;
  for (const FetchSource& source : fetch_sources()) {
    if (source.name == name) return source;
    names.push_back(source.name);
  }
  refuse("data fetch: '{}' is not known{}; there are: {}", name, nearest_hint(name, names),
         fmt::join(names, ", "));
}

std::vector<std::string> fetch_module_paths() {
  return module_paths("tril_fetch.so");
}

FetchResult fetch(const FetchSource& source, const std::string& path, const FetchOptions& options) {
  if (fs::exists(path)) {
    const std::string digest = sha256_hex(MappedFile(path).bytes());
    if (digest != source.sha256)
      refuse("{}: there is another file (SHA-256 {}, {} has {}); move it away or name another place", path,
             digest, source.name, source.sha256);
    log::note("{} is there already and is right (SHA-256 {})", path, digest);
    return {true, 0};
  }
  const TrilHttpGet get = http_get_of(options.modules.empty() ? fetch_module_paths() : options.modules);
  if (const std::string folder = fs::path(path).parent_path().string(); !folder.empty()) make_folders(folder);
  PartFile part(path);
  if (part.size() > source.bytes) part.clear();
  const int64_t begin = part.size();
  log::note("{}: {} ({}) from {}", source.name, short_bytes(static_cast<double>(source.bytes)),
            source.licence, source.url);
  if (begin > 0) log::note("going on from the {} bytes in {}", with_commas(begin), part.path());
  if (begin < source.bytes) download(source, part, options, get);
  if (const std::string digest = sha256_hex(MappedFile(part.path()).bytes()); digest != source.sha256) {
    part.remove();
    refuse(
        "{}: what came has SHA-256 {}, pinned is {}: deleted. Try once more; if it differs again, the file "
        "there has "
        "changed",
        source.url, digest, source.sha256);
  }
  part.move_into_place();
  log::note("{}: {} bytes, SHA-256 as pinned", path, with_commas(source.bytes));
  return {false, begin};
}

}  // namespace tril
