// batches: which examples each step sees. Drawn with PyTorch's randint from the run's seed, or one document
// after another. What it leaves out: how a batch becomes a loss (model/) and evaluation, which goes through
// all examples.
#pragma once
#include <memory>
#include <string>

#include "tril/data/corpus.h"
#include "tril/model/model.h"
#include "tril/tensor/python_random.h"
#include "tril/tensor/random.h"
#include "tril/train/settings.h"

namespace tril {

/// Draws batches one after another. Thread safety: none.
class Batches {
 public:
  virtual ~Batches() = default;
  /// The next batch; its tensors stay valid until the next call.
  virtual Batch next() = 0;
  /// All that next() depends on, as bytes, and back. Throws Refusal for bytes that are not a state.
  virtual std::string state() const = 0;
  virtual void set_state(std::string_view bytes) = 0;
};

/// Window models: targets randint(0, targets, (batch,)) from a generator seeded train.seed + 10000.
/// Decoders: starts randint(0, n − block − 1, (batch,)) from `weights`, the generator that drew the weights,
/// which goes on; or, with train.batches = documents, documents in order (shuffled by `python` where it is
/// given). Throws Refusal where the training part has too few tokens for one example. The corpus must outlive
/// the batches.
std::unique_ptr<Batches> make_batches(const Config& config, const Corpus& corpus, TorchGenerator& weights);

/// The order in which documents are trained on: 0, 1, 2 …, shuffled where train.random = python.
std::vector<int64_t> document_order(const Config& config, const Corpus& corpus, PythonRandom& python);
std::unique_ptr<Batches> make_document_batches(const Config& config, const Corpus& corpus,
                                               std::vector<int64_t> order);

}  // namespace tril
