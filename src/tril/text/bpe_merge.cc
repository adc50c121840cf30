#include "tril/text/bpe_merge.h"

#include <algorithm>
#include <array>
#include <bit>
#include <functional>

namespace tril {

PairTable::PairTable(size_t pairs) : slots_(std::bit_ceil(2 * pairs + 2)), mask_(slots_.size() - 1) {}

void PairTable::put(int32_t left, int32_t right, uint32_t rank, int32_t merged) {
  const uint64_t pair = pack(left, right);
  size_t at = slot(pair);
  while (slots_[at].pair != pair && slots_[at].pair != kEmpty) at = (at + 1) & mask_;
  slots_[at] = {pair, rank, merged};
}

namespace {

uint32_t rank_of(const PairTable& table, int32_t left, int32_t right) {
  return left < 0 || right < 0 ? kNoRank : table.find(left, right).rank;
}

}  // namespace

void PieceMerger::scan(const PairTable& table, std::vector<int32_t>& ids) {
  std::array<uint32_t, kScanned> ranks;  // ranks[i] is that of (ids[i], ids[i + 1])
  size_t count = ids.size();
  for (size_t i = 0; i + 1 < count; ++i) ranks[i] = rank_of(table, ids[i], ids[i + 1]);
  while (count > 1) {
    size_t best = 0;
    for (size_t i = 1; i + 1 < count; ++i) {
      if (ranks[i] < ranks[best]) best = i;
    }
    if (ranks[best] == kNoRank) break;
    ids[best] = table.find(ids[best], ids[best + 1]).merged;
    std::copy(ids.begin() + best + 2, ids.begin() + count, ids.begin() + best + 1);
    std::copy(ranks.begin() + best + 1, ranks.begin() + count - 1, ranks.begin() + best);
    --count;
    if (best > 0) ranks[best - 1] = rank_of(table, ids[best - 1], ids[best]);
    if (best + 1 < count) ranks[best] = rank_of(table, ids[best], ids[best + 1]);
  }
  ids.resize(count);
}

void PieceMerger::heap(const PairTable& table, std::vector<int32_t>& ids) {
  constexpr uint32_t kNone = 0xFFFFFFFF;
  const auto count = static_cast<uint32_t>(ids.size());
  const auto later = std::greater<uint64_t>();  // the heap's top is the smallest: lowest rank, then leftmost
  nodes_.resize(count);
  heap_.clear();
  for (uint32_t i = 0; i < count; ++i) {
    const uint32_t rank = i + 1 < count ? rank_of(table, ids[i], ids[i + 1]) : kNoRank;
    nodes_[i] = {ids[i], rank, i == 0 ? kNone : i - 1, i + 1 < count ? i + 1 : kNone};
    if (rank != kNoRank) heap_.push_back(static_cast<uint64_t>(rank) << 32 | i);
  }
  std::make_heap(heap_.begin(), heap_.end(), later);
  const auto renew = [&](uint32_t at) {
    Node& node = nodes_[at];
    node.rank = node.next == kNone ? kNoRank : rank_of(table, node.id, nodes_[node.next].id);
    if (node.rank == kNoRank) return;
    heap_.push_back(static_cast<uint64_t>(node.rank) << 32 | at);
    std::push_heap(heap_.begin(), heap_.end(), later);
  };
  while (!heap_.empty()) {
    std::pop_heap(heap_.begin(), heap_.end(), later);
    const auto rank = static_cast<uint32_t>(heap_.back() >> 32);
    const auto at = static_cast<uint32_t>(heap_.back());
    heap_.pop_back();
    Node& node = nodes_[at];
    if (node.rank != rank) continue;  // the pair has changed since it was put in
    Node& gone = nodes_[node.next];
    node.id = table.find(node.id, gone.id).merged;
    node.next = gone.next;
    gone.rank = kNoRank;
    if (node.next != kNone) nodes_[node.next].previous = at;
    renew(at);
    if (node.previous != kNone) renew(node.previous);
  }
  size_t kept = 0;
  for (uint32_t at = 0; at != kNone; at = nodes_[at].next) ids[kept++] = nodes_[at].id;
  ids.resize(kept);
}

}  // namespace tril
