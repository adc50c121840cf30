// Parameters: what training changes. One flat buffer each for weights and gradients, with named views into
// it, so that an optimizer step, a gradient norm and a checkpoint are one pass. What it leaves out: the
// optimizer's moments (train/optimizer) and how weights are first drawn (each model).
#pragma once
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tril/tensor/tensor.h"

namespace tril {

struct ParameterInfo {
  std::string name;
  Shape shape;
  int64_t offset = 0;   // in numbers, from the start of the flat buffers
  bool frozen = false;  // no gradient is kept and the optimizer passes it by
};

/// Names and shapes are added first, then allocate() makes both buffers: zeros that take no memory until they
/// are written to, so that a model whose numbers nobody asks for (plan/) costs nothing.
/// Invariants: views start at multiples of 64 bytes; the gaps between them hold zeros and keep them.
class Parameters {
 public:
  explicit Parameters(DType dtype = DType::f32) : dtype_(dtype) {}
  Parameters(const Parameters&) = delete;
  Parameters& operator=(const Parameters&) = delete;

  /// Returns the parameter's index. Names must differ.
  int add(std::string name, Shape shape);
  void allocate();

  DType dtype() const { return dtype_; }
  int size() const { return static_cast<int>(infos_.size()); }
  const std::vector<ParameterInfo>& infos() const { return infos_; }
  const ParameterInfo& info(int i) const { return infos_[static_cast<size_t>(i)]; }
  /// From now on weight i is read where it lies, in a mapped file say: `data` is the whole tensor in dtype(),
  /// aligned to its numbers, and the caller keeps it. For inference: nothing may write to it, and what takes
  /// the flat buffers or gradients would not find it.
  void borrow(int i, const void* data);
  void set_frozen(int i, bool frozen) { infos_[static_cast<size_t>(i)].frozen = frozen; }
  /// -1 where there is none of that name.
  int find(std::string_view name) const;
  /// How many numbers the model has (gaps not counted).
  int64_t count() const;

  Tensor value(int i) const { return view(values_, i); }
  Tensor grad(int i) const {
    settle(i);
    return view(grads_, i);
  }
  /// The flat buffers, gaps included.
  Tensor flat_values() const { return values_; }
  Tensor flat_grads() const {
    for (int i = 0; i < size(); ++i) settle(i);
    return grads_;
  }
  /// All gradients count as zero; memory is written when the first is added or asked for. Of what is not
  /// frozen; the rest has none, and its buffer is never touched.
  void zero_grads();
  /// Where the parameters that are not frozen lie in the flat buffers, gaps included: offset and count,
  /// rising, neighbours as one.
  std::vector<std::pair<int64_t, int64_t>> trained_ranges() const;

  /// A gradient's memory and, while nothing has been added, a flag that it holds leftovers and counts as zero
  /// (autograd/tape.h clears it).
  struct Gradient {
    void* data;
    bool* untouched;
  };
  Gradient unsettled_grad(int i) const { return {view(grads_, i).data, untouched_.get() + i}; }

 private:
  Tensor view(const Tensor& flat, int i) const;
  void settle(int i) const;

  DType dtype_;
  std::vector<ParameterInfo> infos_;
  int64_t flat_count_ = 0;
  struct Free {
    void operator()(void* p) const;
  };
  std::unique_ptr<void, Free> memory_;
  std::unique_ptr<bool[]> untouched_;  // by parameter
  Tensor values_, grads_;              // the flat buffers
};

}  // namespace tril
