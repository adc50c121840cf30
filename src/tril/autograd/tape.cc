#include "tril/autograd/tape.h"

#include <algorithm>
#include <cassert>
#include <cstring>

#include "tril/base/error.h"
#include "tril/base/threads.h"

namespace tril {

Tape::Tape(TapeOptions options) : options_(options) {
  if (options.engine == Engine::fast && options.dtype == DType::f64)
    refuse("dtype f64 needs --engine reference: the fast engine computes in f32");
  if (options.counting) arena_.count_only();
}

void Var::clear() const {
  constexpr int64_t kChunk = 1 << 18;
  const int64_t bytes = node_->value.bytes();
  if (bytes <= kChunk) return static_cast<void>(std::memset(node_->grad, 0, static_cast<size_t>(bytes)));
  parallel_for(pieces_of(bytes, kChunk), [&](int64_t piece) {
    const int64_t start = piece * kChunk;
    std::memset(static_cast<char*>(node_->grad) + start, 0,
                static_cast<size_t>(std::min(kChunk, bytes - start)));
  });
}

Var Tape::constant(Tensor value) {
  return Var(new_node(value, nullptr));
}

Var Tape::leaf(Tensor value, void* grad) {
  return Var(new_node(value, options_.record ? grad : nullptr));
}

void Tape::watch(const Parameters& parameters, BackwardWatch& watch) {
  assert(records_.empty());
  watched_ = &parameters;
  watch_ = &watch;
  used_.assign(static_cast<size_t>(parameters.size()), false);
}

Var Tape::parameter(const Parameters& parameters, int index) {
  if (!options_.record || parameters.info(index).frozen) return constant(parameters.value(index));
  if (watched_ == &parameters && !used_[static_cast<size_t>(index)]) {
    used_[static_cast<size_t>(index)] = true;
    first_uses_.push_back({records_.size(), index});
  }
  const Parameters::Gradient grad = parameters.unsettled_grad(index);
  Node* const node = new_node(parameters.value(index), grad.data);
  node->untouched = grad.untouched;
  return Var(node);
}

Var Tape::alias(Var x, Shape shape) {
  assert(shape.count() == x.count());
  Node* const node = new_node({shape, x.value().dtype, x.value().data}, x.node_->grad);
  node->untouched = x.node_->untouched;
  return Var(node);
}

Var Tape::make(Shape shape, bool wants_grad) {
  const Tensor value = arena_.tensor(shape, options_.dtype);
  Node* const node = new_node(value, nullptr);
  if (wants_grad && options_.record) {
    node->grad = arena_.tensor(shape, options_.dtype).data;
    node->own = !counting();
    node->untouched = &node->own;
  }
  return Var(node);
}

void Tape::copy(Var from, Var to) const {
  assert(from.shape() == to.shape());
  if (counting()) return;
  std::memcpy(to.value().data, from.value().data, static_cast<size_t>(to.value().bytes()));
}

// The gradient of a part's kept result becomes that of the result just made again, whose own is all zeros.
void Tape::send_gradient(Var from, Var to) const {
  if (!to.wants_grad() || counting()) return;
  std::memcpy(to.share<char>().at, from.grad().data, static_cast<size_t>(to.value().bytes()));
}

// Reverse order is right: when a record runs, every record made after it has run, and only those can have
// added to the gradient of its result. So that gradient is complete, and each record needs to run once. A
// record may append others behind itself and take them off again (again()).
void Tape::run_back(size_t first) {
  Profile* const profile = Profile::active();
  for (size_t i = records_.size(); i-- > first;) {
    const Record record = records_[i];
    const bool shown = profile != nullptr && record.label >= 0;
    if (shown) profile->begin(record.label, Profile::Kind::backward);
    record.run(record.closure);
    if (shown) profile->end(0);
    if (watch_ != nullptr) tell_watch(i);
  }
}

// Records run again (again()) lie behind all others, so none of them reaches a first use.
void Tape::tell_watch(size_t record) {
  for (; !first_uses_.empty() && first_uses_.back().record >= record; first_uses_.pop_back())
    watch_->gradient_is_final(first_uses_.back().parameter);
  watch_->record_has_run();
}

void Tape::backward(Var loss, double seed) {
  assert(loss.count() == 1);
  promised_ = 0;
  if (!loss.wants_grad()) return;
  if (!counting())
    with_real(options_.dtype, [&](auto zero) {
      using T = decltype(zero);
      *loss.g<T>() = static_cast<T>(seed);
    });
  run_back(0);
}

Var Tape::name(std::string_view name, Var v) {
  this->name(name, v.value());
  return v;
}

void Tape::name(std::string_view name, const Tensor& value) {
  if (options_.trace) named_.emplace_back(scope_ + std::string(name), value);
}

void Tape::set_recording(bool record) {
  assert(records_.empty() && arena_.used() == 0);
  options_.record = record;
}

void OpScope::open(const char* name, std::initializer_list<Var> inputs) {
  std::string shapes;
  for (const Var& input : inputs)
    if (input.exists()) shapes += (shapes.empty() ? "" : " ") + input.shape().text();
  outer_ = std::exchange(tape_.label_, profile_->label(name, std::move(shapes)));
  used_ = tape_.arena_.used();
  profile_->begin(tape_.label_, Profile::Kind::forward);
}

void OpScope::close() {
  profile_->end(static_cast<int64_t>(tape_.arena_.used() - used_));
  tape_.label_ = outer_;
}

void Tape::reset() {
  records_.clear();
  named_.clear();
  scope_.clear();
  draws_taken_ = 0;
  promised_ = 0;
  watched_ = nullptr;
  watch_ = nullptr;
  first_uses_.clear();
  arena_.rewind();
}

}  // namespace tril
