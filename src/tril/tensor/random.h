// PyTorch's random numbers on the CPU: the same seed gives the same weights and batches as the PyTorch
// program. Integers, rand and uniform are equal bit for bit; randn and normal to 1e-6 (PyTorch's vector path
// has a log, sin and cos of its own). Draws are float32, as PyTorch's default type; other types convert. What
// it leaves out: draws in float64 and half, other distributions, other devices.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tril/tensor/mt19937.h"

namespace tril {

/// torch.Generator(device="cpu"). One generator, one thread.
class TorchGenerator {
 public:
  /// torch.Generator().manual_seed(seed): only the low 32 bits of the seed matter, as there.
  explicit TorchGenerator(uint64_t seed) : words_(static_cast<uint32_t>(seed)) {}
  void manual_seed(uint64_t seed);

  /// The next 32 bits, and the next 64 (high word first).
  uint32_t random() { return words_.next(); }
  uint64_t random64();

  /// torch.rand: uniform in [0, 1), 24 bits.
  float rand();
  /// tensor.uniform_(from, to), contiguous. from ≤ to, both finite.
  void uniform(std::span<float> out, double from, double to);
  /// torch.randn.
  void randn(std::span<float> out) { normal(out, 0, 1); }
  /// tensor.normal_(mean, deviation), contiguous; deviation ≥ 0. The number of words drawn depends on
  /// out.size(): up to 15 values are drawn one by one, 16 or more in groups of 16.
  void normal(std::span<float> out, double mean, double deviation);

  /// torch.randint(low, high, …): low ≤ value < high; low < high, high − low < 2^63.
  int64_t randint(int64_t low, int64_t high);
  void randint(std::span<int64_t> out, int64_t low, int64_t high);
  void randint(std::span<int32_t> out, int64_t low, int64_t high);
  /// torch.randperm(n), n < 2^32 / 20.
  std::vector<int64_t> randperm(int64_t n);

  /// nn.Linear's initial weights and biases: kaiming_uniform_(a = √5), which is uniform ±1/√fan_in. fan_in
  /// ≥ 1.
  void linear_weight(std::span<float> out, int64_t fan_in);
  void linear_bias(std::span<float> out, int64_t fan_in);

  /// The whole state (words, position, kept normal value) as bytes, the same on every machine.
  std::string state() const;
  /// Takes a state back. Throws Refusal where the bytes are not one.
  void set_state(std::string_view bytes);

  bool operator==(const TorchGenerator&) const = default;

 private:
  double normal_double();

  Mt19937 words_;
  std::optional<double> kept_normal_;  // the second value of the last Box–Muller pair below 16
};

}  // namespace tril
