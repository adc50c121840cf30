// What bench kernels measures: each op as the training of a preset calls it, with its shapes and what one
// forward pass costs. What it leaves out: running any of it (bench_kernels.cc).
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "tril/model/config.h"
#include "tril/ops/op.h"

namespace tril::cli {

/// One op at one place of a model. Products count multiplications and additions that the result needs
/// (attention's visible pairs alone); every other op counts the bytes that it reads and writes at the least:
/// none where it is a view.
struct Work {
  std::string op;
  std::string place;  // "shakespeare-char, keys"
  std::vector<Shape> shapes;
  Attributes attributes;
  int64_t id_bound = 0;
  double flops = 0;  // of the forward pass; 0: the op moves bytes
  double bytes = 0;
};

/// The ops of one training step of a model, in their order, on `examples` rows of `length` tokens; those of
/// one block stand for all. The list has the same places for any sizes.
std::vector<Work> works_of(const std::string& preset, const ModelConfig& model, int64_t examples,
                           int64_t length);

/// The same place at two sizes: of a large batch as many examples are taken, and then as many tokens, as keep
/// a forward pass within a number of flops. Plain loops get less to do.
struct Measured {
  Work fast, plain;
};

/// Every op of the table, as the presets' training calls it, or at shakespeare-char's sizes where none does;
/// the same shapes once.
std::vector<Measured> all_works(double most_flops, double most_plain_flops);

}  // namespace tril::cli
