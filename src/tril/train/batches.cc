#include "tril/train/batches.h"

#include <algorithm>
#include <charconv>
#include <numeric>
#include <vector>

#include "tril/base/error.h"
#include "tril/data/blocks.h"
#include "tril/data/windows.h"

namespace tril {
namespace {

// "FILE: the training part", for a refusal.
std::string training_part(const Config& config) {
  return config.data.path.empty() ? "the training part" : config.data.path + ": the training part";
}

constexpr uint64_t kBatchSeedOffset = 10000;

class WindowBatches : public Batches {
 public:
  WindowBatches(const Config& config, const Corpus& corpus)
      : windows_(corpus.train(), config.model.context, kPadId),
        random_(static_cast<uint64_t>(config.train.seed) + kBatchSeedOffset),
        which_(static_cast<size_t>(config.train.batch)),
        ids_(static_cast<size_t>(config.train.batch * config.model.context)),
        targets_(which_.size()) {
    if (windows_.targets() == 0) refuse("{} has no target: no word to train on", training_part(config));
  }

  Batch next() override {
    random_.randint(std::span<int64_t>(which_), 0, windows_.targets());
    windows_.gather(which_, ids_.data(), targets_.data());
    const auto batch = static_cast<int64_t>(which_.size());
    return {{{batch, windows_.context()}, DType::i32, ids_.data()}, {{batch}, DType::i32, targets_.data()}};
  }
  std::string state() const override { return random_.state(); }
  void set_state(std::string_view bytes) override { random_.set_state(bytes); }

 private:
  Windows windows_;
  TorchGenerator random_;
  std::vector<int64_t> which_;
  std::vector<int32_t> ids_, targets_;
};

class BlockBatches : public Batches {
 public:
  BlockBatches(const Config& config, const Corpus& corpus, TorchGenerator& random)
      : blocks_(corpus.train().ids, config.train.block, training_part(config)),
        random_(random),
        starts_(static_cast<size_t>(config.train.batch)),
        ids_(static_cast<size_t>(config.train.batch * config.train.block)),
        targets_(ids_.size()) {}

  // One start fewer than there are is drawn from, as the PyTorch programs of the route do.
  Batch next() override {
    random_.randint(std::span<int64_t>(starts_), 0, std::max<int64_t>(1, blocks_.starts() - 1));
    const int64_t length = blocks_.length();
    for (size_t b = 0; b < starts_.size(); ++b) {
      const auto at = static_cast<size_t>(length) * b;
      blocks_.fetch(starts_[b], ids_.data() + at, targets_.data() + at);
    }
    const Shape shape{static_cast<int64_t>(starts_.size()), length};
    return {{shape, DType::i32, ids_.data()}, {shape, DType::i32, targets_.data()}};
  }
  std::string state() const override { return random_.state(); }
  void set_state(std::string_view bytes) override { random_.set_state(bytes); }

 private:
  Blocks blocks_;
  TorchGenerator& random_;
  std::vector<int64_t> starts_;
  std::vector<int32_t> ids_, targets_;
};

// A document gives its first `block` predictions; several documents lie in one row, one after the other.
class DocumentBatches : public Batches {
 public:
  DocumentBatches(const Config& config, const Corpus& corpus, std::vector<int64_t> order)
      : tokens_(corpus.train()),
        order_(std::move(order)),
        batch_(config.train.batch),
        block_(config.train.block) {
    if (order_.empty()) refuse("the training part has no document");
  }

  Batch next() override {
    ids_.clear();
    targets_.clear();
    lengths_.clear();
    for (int64_t b = 0; b < batch_; ++b) {
      const auto place = static_cast<size_t>(position_++ % static_cast<int64_t>(order_.size()));
      const auto document = tokens_.document(order_[place]);
      const int64_t n = std::min(block_, static_cast<int64_t>(document.size()) - 1);
      ids_.insert(ids_.end(), document.begin(), document.begin() + n);
      targets_.insert(targets_.end(), document.begin() + 1, document.begin() + 1 + n);
      lengths_.push_back(static_cast<int32_t>(n));
    }
    const Shape row{1, static_cast<int64_t>(ids_.size())};
    Batch batch{{row, DType::i32, ids_.data()}, {row, DType::i32, targets_.data()}};
    if (batch_ > 1) batch.lengths = {{batch_}, DType::i32, lengths_.data()};
    return batch;
  }
  std::string state() const override { return std::to_string(position_); }
  void set_state(std::string_view bytes) override {
    const auto [end, error] = std::from_chars(bytes.data(), bytes.data() + bytes.size(), position_);
    if (error != std::errc() || end != bytes.data() + bytes.size() || position_ < 0)
      refuse("the checkpoint's place in the documents is not a number");
  }

 private:
  const Tokens& tokens_;
  std::vector<int64_t> order_;
  int64_t batch_, block_, position_ = 0;
  std::vector<int32_t> ids_, targets_, lengths_;
};

}  // namespace

std::unique_ptr<Batches> make_batches(const Config& config, const Corpus& corpus, TorchGenerator& weights) {
  if (config.model.family != "decoder") return std::make_unique<WindowBatches>(config, corpus);
  return std::make_unique<BlockBatches>(config, corpus, weights);
}

std::vector<int64_t> document_order(const Config& config, const Corpus& corpus, PythonRandom& python) {
  std::vector<int64_t> order(static_cast<size_t>(corpus.train().documents()));
  std::iota(order.begin(), order.end(), 0);
  if (config.train.random == "python") python.shuffle(std::span<int64_t>(order));
  return order;
}

std::unique_ptr<Batches> make_document_batches(const Config& config, const Corpus& corpus,
                                               std::vector<int64_t> order) {
  return std::make_unique<DocumentBatches>(config, corpus, std::move(order));
}

}  // namespace tril
