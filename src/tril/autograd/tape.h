// Tape: automatic differentiation, define by run. An op computes its result and appends one record that knows
// how to send gradients back; backward() runs the records in reverse. With recording off the tape keeps
// nothing. What it leaves out: what an op is (ops/) and what holds parameters (parameters.h).
#pragma once
#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <new>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "tril/autograd/parameters.h"
#include "tril/base/profile.h"
#include "tril/tensor/arena.h"
#include "tril/tensor/draws.h"
#include "tril/tensor/tensor.h"

namespace tril {

/// reference: plain loops, the definition. fast: float, vectorised, threaded.
enum class Engine : uint8_t { reference, fast };

/// A value on the tape and, where it is wanted, its gradient of the same shape and type. Memory for gradients
/// is not cleared: what nothing was added to yet holds leftovers and counts as zero.
struct Node {
  Tensor value;
  void* grad = nullptr;
  bool* untouched = nullptr;  // null: something is there, and is added to
  bool own = false;           // what `untouched` may point to
};

/// Where an op's part of a gradient goes, and whether it is added to what is there or is the first.
template <class T>
struct Share {
  T* at = nullptr;
  bool add = true;
};

/// A handle on a Node; copying it is free. Valid until the tape is reset.
class Var {
 public:
  Var() = default;
  explicit Var(Node* node) : node_(node) {}
  bool exists() const { return node_ != nullptr; }
  const Tensor& value() const { return node_->value; }
  const Shape& shape() const { return node_->value.shape; }
  int64_t dim(int i) const { return node_->value.shape[i]; }
  int64_t rows() const { return node_->value.shape.rows(); }
  int64_t cols() const { return node_->value.shape.cols(); }
  int64_t count() const { return node_->value.count(); }
  bool wants_grad() const { return node_->grad != nullptr; }
  Tensor grad() const {
    settle();
    return {node_->value.shape, node_->value.dtype, node_->grad};
  }
  template <class T>
  T* v() const {
    return node_->value.as<T>();
  }
  /// To be added to. Null where no gradient is wanted.
  template <class T>
  T* g() const {
    settle();
    return static_cast<T*>(node_->grad);
  }
  /// For an op that can write as well as add, which saves a pass over the memory: it must write every number
  /// where `add` is false. `at` is null where no gradient is wanted.
  template <class T>
  Share<T> share() const {
    const bool first = node_->untouched != nullptr && std::exchange(*node_->untouched, false);
    return {static_cast<T*>(node_->grad), !first};
  }
  bool operator==(const Var&) const = default;

 private:
  friend class Tape;
  void settle() const {
    if (node_->untouched != nullptr && std::exchange(*node_->untouched, false)) clear();
  }
  void clear() const;

  Node* node_ = nullptr;
};

struct TapeOptions {
  Engine engine = Engine::fast;
  DType dtype = DType::f32;  // of every real number on the tape; f64 needs the reference engine
  bool record = true;        // keep what backward() needs
  bool trace = false;        // keep every named value
  bool recompute = false;    // keep of a result_of() its result alone, and run the part again in backward()
  bool counting = false;     // compute nothing: only say how much memory it would take (arena().most_used())
};

/// Told by Tape::backward() how far it is.
class BackwardWatch {
 public:
  virtual ~BackwardWatch() = default;
  /// Everything that uses this parameter has been walked: its gradient is final.
  virtual void gradient_is_final(int parameter) = 0;
  /// One more record has run.
  virtual void record_has_run() = 0;
};

/// Thread safety: none; one tape belongs to one thread (an op may use several inside).
/// Invariants: records run in reverse order of their making, each once per backward(); everything made on the
/// tape lives in its arena until reset().
class Tape {
 public:
  /// Throws Refusal for f64 with the fast engine.
  explicit Tape(TapeOptions options = {});

  Engine engine() const { return options_.engine; }
  bool fast() const { return options_.engine == Engine::fast; }
  DType dtype() const { return options_.dtype; }
  bool recording() const { return options_.record; }
  /// Ops make their results and saved values, and then return: there is no memory behind them.
  bool counting() const { return options_.counting; }
  /// Whether backward() will be wanted of what follows. The tape must be empty.
  void set_recording(bool record);
  bool tracing() const { return options_.trace; }
  Arena& arena() { return arena_; }

  /// A value without gradient: ids, masks, inputs.
  Var constant(Tensor value);
  /// A value whose gradient is added into `grad`.
  Var leaf(Tensor value, void* grad);
  /// The numbers and the gradient of x in another shape of as many.
  Var alias(Var x, Shape shape);
  /// A parameter; its gradient goes to the flat buffer, unless it is frozen or the tape does not record.
  Var parameter(const Parameters& parameters, int index);

  /// An uninitialised result of the tape's dtype; with `wants_grad` and recording it has a gradient, still
  /// untouched.
  Var make(Shape shape, bool wants_grad);

  /// Runs part() and returns its result, which has this shape. Where nothing is recorded or traced, all
  /// memory that the part took is given back but the result's: a stack of layers then needs the room of one.
  /// Under `recompute` that holds for a tape that records, too: backward() runs part() once more, with the
  /// same draws, and then its records. So `part` captures by value and owns nothing, as a record does.
  template <class Part>
  Var result_of(Shape shape, const Part& part) {
    if (options_.trace || (options_.record && !options_.recompute)) return part();
    const Var kept = make(shape, true);
    const uint64_t draws = draws_taken_;
    const Arena::Mark mark = arena_.mark();
    const size_t records = records_.size();
    const double promised = std::exchange(promised_, 0);  // the part will be run twice
    copy(part(), kept);
    promised_ = promised;
    records_.resize(records);
    arena_.release(mark);
    for (FirstUse& use : first_uses_) use.record = std::min(use.record, records);
    on_backward([this, part, kept, draws] { again(part, kept, draws); });
    return kept;
  }

  /// Appends a record. `backward` is a lambda that captures by value and owns nothing; it must add to
  /// gradients.
  template <class F>
  void on_backward(const F& backward) {
    static_assert(std::is_trivially_destructible_v<F>, "a record lives in the arena and is never destroyed");
    if (!options_.record) return;
    F* kept = new (arena_.allocate(sizeof(F))) F(backward);
    records_.push_back({[](void* f) { (*static_cast<F*>(f))(); }, kept, label_});
  }

  /// The next backward() will come with this seed, and nothing else is done with what it starts from: an op
  /// that makes its last value may then send gradients back at once (ops/linear_cross_entropy.h). 0: not
  /// known. Ends with backward() and reset(). A promise that is not kept leaves those gradients behind.
  void promise(double seed) { promised_ = seed; }
  double promised() const { return promised_; }

  /// Sets the gradient of `loss` (one number) to `seed` and runs every record in reverse.
  void backward(Var loss, double seed = 1.0);

  /// From here to reset(), backward() tells `watch` of these parameters' gradients. The tape must be empty.
  void watch(const Parameters& parameters, BackwardWatch& watch);

  /// The seed and step of the draws that ops take (dropout): the same two give the same draws, in the order
  /// of the calls since reset().
  void set_draws(uint64_t seed, uint64_t step) {
    draws_seed_ = seed;
    draws_step_ = step;
  }
  /// What runs now is `here` examples of a larger batch, after `before` others: they take the draws that they
  /// would take there. 0 and 1: a whole batch.
  void set_place(int64_t before, int64_t here) {
    examples_before_ = before;
    examples_here_ = here;
  }
  /// A stream of its own for each call, which takes one draw for each of `count` numbers; the first is that
  /// of the first example here.
  Draws draws(int64_t count) {
    return Draws(draws_seed_, draws_step_ << 20 | draws_taken_++,
                 static_cast<uint64_t>(count / examples_here_ * examples_before_));
  }

  /// Under tracing, keeps `v` under the scope's text + name; returns v. The value then must not be
  /// overwritten.
  Var name(std::string_view name, Var v);
  void name(std::string_view name, const Tensor& value);
  /// Names given after this begin with `scope`: "blocks.0." and so on; "" ends it.
  void set_scope(std::string_view scope) { scope_ = scope; }
  const std::vector<std::pair<std::string, Tensor>>& named() const { return named_; }

  /// Forgets all records, names and values; memory is kept for the next step.
  void reset();

 private:
  friend class OpScope;
  struct Record {
    void (*run)(void*);
    void* closure;
    int label;  // of the op in the profile; −1 where there is none
  };
  // A watched parameter and how many records there were when it was first used: no earlier one adds to its
  // gradient.
  struct FirstUse {
    size_t record;
    int parameter;
  };
  // The part of a result_of() again, and its gradients.
  template <class Part>
  void again(const Part& part, Var kept, uint64_t draws) {
    const uint64_t draws_now = std::exchange(draws_taken_, draws);
    const Arena::Mark mark = arena_.mark();
    const size_t records = records_.size();
    const Var result = part();
    send_gradient(kept, result);
    run_back(records);
    records_.resize(records);
    arena_.release(mark);
    draws_taken_ = draws_now;
  }
  void run_back(size_t first);
  void tell_watch(size_t record);
  void send_gradient(Var from, Var to) const;
  Node* new_node(Tensor value, void* grad) { return new (arena_.allocate(sizeof(Node))) Node{value, grad}; }
  void copy(Var from, Var to) const;

  TapeOptions options_;
  Arena arena_;
  std::vector<Record> records_;
  int label_ = -1;  // of the op that is running, in the profile
  uint64_t draws_seed_ = 0, draws_step_ = 0, draws_taken_ = 0;
  int64_t examples_before_ = 0, examples_here_ = 1;
  double promised_ = 0;
  const Parameters* watched_ = nullptr;
  BackwardWatch* watch_ = nullptr;
  std::vector<FirstUse> first_uses_;  // in their order; records do not fall
  std::vector<bool> used_;            // by parameter
  std::string scope_;
  std::vector<std::pair<std::string, Tensor>> named_;
};

/// The first line of every op: what a profile shows of this call and of the records it makes. Nothing where
/// nothing is profiled.
class OpScope {
 public:
  OpScope(Tape& tape, const char* name, std::initializer_list<Var> inputs)
      : profile_(Profile::active()), tape_(tape) {
    if (profile_ != nullptr) open(name, inputs);
  }
  ~OpScope() {
    if (profile_ != nullptr) close();
  }
  OpScope(const OpScope&) = delete;
  OpScope& operator=(const OpScope&) = delete;

 private:
  void open(const char* name, std::initializer_list<Var> inputs);
  void close();

  Profile* profile_;
  Tape& tape_;
  size_t used_ = 0;
  int outer_ = -1;
};

}  // namespace tril
