#include "tril/check/examples.h"

#include <fmt/core.h>

#include <algorithm>
#include <cassert>
#include <numeric>

#include "tril/base/error.h"
#include "tril/base/table.h"
#include "tril/data/blocks.h"
#include "tril/data/windows.h"

namespace tril {
namespace {

Examples windows_at(const Windows& windows, std::vector<int64_t> which) {
  Examples out;
  out.count = static_cast<int64_t>(which.size());
  out.length = windows.context();
  out.ids.resize(static_cast<size_t>(out.count * out.length));
  out.targets.resize(which.size());
  windows.gather(which, out.ids.data(), out.targets.data());
  return out;
}

Examples blocks_at(const Blocks& blocks, const std::vector<int64_t>& starts) {
  Examples out;
  out.one_target = false;
  out.count = static_cast<int64_t>(starts.size());
  out.length = blocks.length();
  out.ids.resize(static_cast<size_t>(out.count * out.length));
  out.targets.resize(out.ids.size());
  for (size_t i = 0; i < starts.size(); ++i) {
    const auto at = i * static_cast<size_t>(out.length);
    blocks.fetch(starts[i], out.ids.data() + at, out.targets.data() + at);
  }
  return out;
}

// A longer context shows nothing that 48 positions don't, and the checks' cost grows with its square.
constexpr int64_t kLongestBlock = 48, kMostPositions = 512;

Blocks blocks_of(const Model& model, const Corpus& corpus, int64_t longest = kLongestBlock) {
  const auto have = static_cast<int64_t>(corpus.train().ids.size()) - 1;
  longest = std::min<int64_t>(model.config().context, longest);
  return {corpus.train().ids, std::clamp<int64_t>(have, 1, longest), "the training part"};
}

std::vector<int64_t> evenly(int64_t total, int64_t most) {
  const int64_t count = std::min(total, most);
  std::vector<int64_t> out;
  for (int64_t i = 0; i < count; ++i) out.push_back(total * i / count);
  return out;
}

}  // namespace

Tensor Examples::input() const {
  return {{count, length}, DType::i32, const_cast<int32_t*>(ids.data())};
}

Batch Examples::batch() const {
  const Shape shape = one_target ? Shape{count} : Shape{count, length};
  return {input(), {shape, DType::i32, const_cast<int32_t*>(targets.data())}};
}

int64_t Examples::padding(int64_t b) const {
  const auto row = ids.begin() + b * length;
  return std::find_if(row, row + length, [](int32_t id) { return id != kPadId; }) - row;
}

Examples Examples::first_part(int64_t kept) const {
  assert(one_target ? kept <= count : count == 1 && kept <= length);
  Examples part = *this;
  (one_target ? part.count : part.length) = kept;
  part.ids.resize(static_cast<size_t>(part.count * part.length));
  part.targets.resize(static_cast<size_t>(one_target ? kept : part.count * part.length));
  return part;
}

std::string Examples::text() const {
  return fmt::format("{} of {} {} the training part", counted(count, one_target ? "window" : "block"),
                     counted(length, "token"), first ? "at the start of" : "spread over");
}

Examples spread_examples(const Model& model, const Corpus& corpus, int64_t most, bool full) {
  if (!model.one_target()) {
    const Blocks blocks = blocks_of(model, corpus);
    return blocks_at(blocks, evenly(blocks.starts(),
                                    std::min(most, std::max<int64_t>(1, kMostPositions / blocks.length()))));
  }
  const Windows windows(corpus.train(), model.config().context, kPadId);
  if (windows.targets() == 0) refuse("the training part has no target to check with");
  std::vector<int64_t> wanted;
  for (int64_t t : evenly(windows.targets(), full ? 64 * most : most))
    if (!full || windows.place(t).position >= windows.context()) wanted.push_back(t);
  if (wanted.empty()) wanted = evenly(windows.targets(), most);
  std::vector<int64_t> chosen;
  for (int64_t i : evenly(static_cast<int64_t>(wanted.size()), most))
    chosen.push_back(wanted[static_cast<size_t>(i)]);
  return windows_at(windows, chosen);
}

Examples first_targets(const Model& model, const Corpus& corpus, int64_t most) {
  if (!model.one_target()) {
    Examples block = blocks_at(blocks_of(model, corpus, most), {0});
    block.first = true;
    return block;
  }
  const Windows windows(corpus.train(), model.config().context, kPadId);
  std::vector<int64_t> which(static_cast<size_t>(std::min(most, windows.targets())));
  std::iota(which.begin(), which.end(), 0);
  Examples out = windows_at(windows, which);
  out.first = true;
  return out;
}

}  // namespace tril
