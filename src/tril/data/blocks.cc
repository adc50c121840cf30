#include "tril/data/blocks.h"

#include <algorithm>
#include <cassert>

#include "tril/base/error.h"
#include "tril/base/table.h"

namespace tril {

Blocks::Blocks(std::span<const int32_t> stream, int64_t length, const std::string& name)
    : stream_(stream), length_(length) {
  assert(length >= 1);
  const auto have = static_cast<int64_t>(stream.size());
  if (have >= length + 1) return;
  refuse("{}: {}, needs {} (a block of {} and its last target); {}", name, counted(have, "token"), length + 1,
         length,
         have >= 2 ? fmt::format("use more text, or a context of at most {}", have - 1) : "use more text");
}

void Blocks::fetch(int64_t start, int32_t* x, int32_t* y) const {
  assert(start >= 0 && start < starts());
  const int32_t* at = stream_.data() + start;
  std::copy_n(at, length_, x);
  std::copy_n(at + 1, length_, y);
}

Blocks::Range Blocks::consecutive(int64_t index) const {
  assert(index >= 0 && index < consecutive());
  const int64_t start = index * length_;
  return {start, std::min(length_, targets() - start)};
}

void require_ids_below(std::span<const int32_t> ids, int64_t vocab_size, const std::string& name) {
  const auto bad =
      std::find_if(ids.begin(), ids.end(), [&](int32_t id) { return id < 0 || id >= vocab_size; });
  if (bad == ids.end()) return;
  refuse("{}: position {}: id {} is outside the vocabulary of {}", name, bad - ids.begin(), *bad, vocab_size);
}

}  // namespace tril
