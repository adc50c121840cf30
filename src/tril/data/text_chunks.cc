#include "tril/data/text_chunks.h"

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "tril/base/error.h"
#include "tril/base/log.h"
#include "tril/base/sniff.h"
#include "tril/text/loose_utf8.h"
#include "tril/text/utf8.h"

namespace tril {

TextChunks::TextChunks(const std::string& path, ChunkEnd end, bool any_bytes, bool quiet, size_t chunk)
    : path_(path),
      end_(end),
      any_bytes_(any_bytes),
      quiet_(quiet),
      chunk_(chunk),
      file_(path, std::ios::binary) {
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  if (!file_) refuse("{}: can't be read: {}", path, std::strerror(errno));  // of the open just above
  std::error_code error;
  total_ = static_cast<int64_t>(std::filesystem::file_size(path, error));
  if (error) refuse("{}: can't be read: {}", path, error.message());
  while (held_.size() < kSniffBytes && file_) fill();
  const std::string_view head = std::string_view(held_).substr(0, kSniffBytes);
  refuse_unless_text(path, head);
  if (const auto seems = sniff(head, static_cast<size_t>(total_)); seems && !quiet_)
    log::warn("{}: looks like {}; its tags are read as text", path, seems->name);
  if (!head.starts_with(kByteOrderMark)) return;
  given_ = kByteOrderMark.size();
  if (!quiet_) log::note("{}: the byte-order mark at its start is dropped", path);
}

void TextChunks::fill() {
  const size_t before = held_.size();
  held_.resize(before + chunk_);
  file_.read(held_.data() + before, static_cast<std::streamsize>(chunk_));
  const auto got = static_cast<size_t>(file_.gcount());
  held_.resize(before + got);
  if (file_.bad()) refuse("{}: reading stopped at byte {}", path_, done_);
  done_ += static_cast<int64_t>(got);
}

// How much of held_ may be handed on while more is to come.
size_t TextChunks::allowed_end() const {
  if (end_ == ChunkEnd::kCharacter) return complete_prefix(held_);
  const size_t blank = held_.find_last_of(" \t\n\v\f\r");
  return blank == held_.npos ? 0 : blank + 1;
}

bool TextChunks::next(std::string_view& piece) {
  at_ += static_cast<int64_t>(given_);
  held_.erase(0, given_);
  given_ = 0;
  // a stretch without an end doubles before it is looked at again, so the work stays linear
  for (size_t wanted = chunk_; file_; fill()) {
    if (held_.size() < wanted) continue;
    if (allowed_end() > 0) break;
    wanted = 2 * held_.size();
  }
  given_ = file_ ? allowed_end() : held_.size();
  piece = std::string_view(held_).substr(0, given_);
  check(piece);
  return !piece.empty();
}

void TextChunks::check(std::string_view piece) {
  const auto bad = first_invalid_utf8(piece);
  if (!bad) return;
  const int64_t place = at_ + static_cast<int64_t>(*bad);
  if (!any_bytes_)
    refuse("{}: byte {}: not valid UTF-8 (0x{:02X}); save the text as UTF-8", path_, place,
           static_cast<unsigned char>(piece[*bad]));
  if (!warned_ && !quiet_)
    log::warn("{}: byte {}: not valid UTF-8; its bytes are kept as they are", path_, place);
  warned_ = true;
}

}  // namespace tril
