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

constexpr uint64_t kBatchSeedOffset = 10000;

class WindowBatches : public Batches {
 public:
  WindowBatches(const Config& config, const Corpus& corpus)
      : windows_(corpus.train(), config.model.context, kPadId),
        random_(static_cast<uint64_t>(config.train.seed) + kBatchSeedOffset),
        which_(static_cast<size_t>(config.train.batch)),
        ids_(static_cast<size_t>(config.train.batch * config.model.context)),
        targets_(which_.size()) {
    if (windows_.targets() == 0) refuse("the training part has no target: no word to train on");
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
      : blocks_(corpus.train().ids, config.train.block, "the training part"),
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

// A document gives its first `block` predictions; shorter ones are padded on the right with targets of −1.
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
    std::vector<std::span<const int32_t>> documents;
    int64_t length = 1;
    for (int64_t b = 0; b < batch_; ++b) {
      const auto place = static_cast<size_t>(position_++ % static_cast<int64_t>(order_.size()));
      documents.push_back(tokens_.document(order_[place]));
      length = std::max(length, predictions(documents.back()));
    }
    ids_.assign(static_cast<size_t>(batch_ * length), 0);
    targets_.assign(ids_.size(), -1);
    for (int64_t b = 0; b < batch_; ++b) {
      const auto document = documents[static_cast<size_t>(b)];
      const int64_t n = predictions(document);
      std::copy_n(document.begin(), n, ids_.begin() + b * length);
      std::copy_n(document.begin() + 1, n, targets_.begin() + b * length);
    }
    return {{{batch_, length}, DType::i32, ids_.data()}, {{batch_, length}, DType::i32, targets_.data()}};
  }
  std::string state() const override { return std::to_string(position_); }
  void set_state(std::string_view bytes) override {
    const auto [end, error] = std::from_chars(bytes.data(), bytes.data() + bytes.size(), position_);
    if (error != std::errc() || end != bytes.data() + bytes.size() || position_ < 0)
      refuse("the checkpoint's place in the documents is not a number");
  }

 private:
  int64_t predictions(std::span<const int32_t> document) const {
    return std::min(block_, static_cast<int64_t>(document.size()) - 1);
  }

  const Tokens& tokens_;
  std::vector<int64_t> order_;
  int64_t batch_, block_, position_ = 0;
  std::vector<int32_t> ids_, targets_;
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
