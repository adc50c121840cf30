// What every op must do, driven by its row: fast equals plain, the Jacobian in double, the same bits for 1, 2
// and 7 threads, gradients added to what is there, and a row for every op in the folder.
#include "tril/ops/op_table.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <regex>

#include "tril/autograd/gradient_check.h"
#include "tril/base/file.h"
#include "tril/base/threads.h"

namespace tril {
namespace {

// A fixed stream of numbers in (−1, 1), the same for every run.
struct Numbers {
  uint64_t state;
  double next() {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return static_cast<double>(state >> 11) * 0x1.0p-52 - 1;
  }
};

// One case of a row, with its inputs in float or double and room for gradients that start at `start`.
template <class T>
class Instance {
 public:
  Instance(const OpSpec& spec, const OpCase& c, double start = 0) : spec_(spec), case_(c) {
    Numbers numbers{static_cast<uint64_t>(c.shapes.size() * 97 + static_cast<size_t>(c.shapes[0].count()))};
    for (size_t i = 0; i < c.shapes.size(); ++i) {
      if (absent(i)) continue;
      const auto count = static_cast<size_t>(c.shapes[i].count());
      values_.emplace_back(), ids_.emplace_back(), grads_.emplace_back();
      for (size_t k = 0; k < count; ++k) {
        const double number = numbers.next();
        if (spec.arguments[i].ids) {
          ids_.back().push_back(static_cast<int32_t>((number + 1) / 2 * static_cast<double>(c.id_bound)));
        } else {
          const double away = spec.kink_at_zero ? (number < 0 ? -0.1 : 0.1) : 0;
          values_.back().push_back(static_cast<T>(static_cast<float>(number + away)));
          grads_.back().push_back(static_cast<T>(start));
        }
      }
    }
  }

  /// Inputs are values made on the tape from here on, whose gradients nothing was added to yet.
  void make_inputs_on_the_tape() { inner_ = true; }
  /// The gradient that backward left in an input made on the tape.
  Tensor inner_grad(size_t k) { return inputs_[k].grad(); }

  Var run(Tape& tape) {
    std::vector<Var>& in = inputs_;
    in.clear();
    size_t k = 0;
    for (size_t i = 0; i < case_.shapes.size(); ++i) {
      if (absent(i)) continue;
      if (spec_.arguments[i].ids) {
        in.push_back(tape.constant({case_.shapes[i], DType::i32, ids_[k].data()}));
      } else {
        in.push_back(inner_ ? tape.make(case_.shapes[i], true) : tape.leaf(value(k, i), grads_[k].data()));
        if (inner_) std::copy(values_[k].begin(), values_[k].end(), in.back().template v<T>());
      }
      ++k;
    }
    return spec_.call(tape, in, case_.attributes);
  }

  // f = sum_i u[i] y[i] over the finite results, with fixed u; sends u back where `back` is set.
  double weighted(Tape& tape, bool back) {
    tape.reset();
    Var y = run(tape);
    Numbers numbers{7};
    double sum = 0;
    for (int64_t i = 0; i < y.count(); ++i) {
      const double u = numbers.next();
      const double v = y.value().at(i);
      if (!std::isfinite(v)) continue;
      sum += u * v;
      if (back && y.wants_grad()) y.g<T>()[i] += static_cast<T>(u);
    }
    if (back) {
      // The tape seeds one number; a zero seed on a spare one leaves the gradients set above.
      Var spare = tape.make({}, true);
      tape.backward(spare, 0);
    }
    return sum;
  }

  Tensor value(size_t k, size_t argument) {
    return {case_.shapes[argument], dtype_of<T>(), values_[k].data()};
  }
  Tensor grad(size_t k, size_t argument) { return {case_.shapes[argument], dtype_of<T>(), grads_[k].data()}; }
  bool absent(size_t i) const { return spec_.arguments[i].optional && case_.shapes[i].rank() == 0; }

 private:
  const OpSpec& spec_;
  const OpCase& case_;
  std::vector<std::vector<T>> values_, grads_;
  std::vector<std::vector<int32_t>> ids_;
  bool inner_ = false;
  std::vector<Var> inputs_;
};

std::string label(const OpSpec& spec, const OpCase& c) {
  std::string text = spec.name;
  for (const Shape& shape : c.shapes) text += " " + shape.text();
  return text;
}

template <class Body>
void each_case(const Body& body) {
  for (const OpSpec* spec : op_table())
    for (const OpCase& c : spec->cases) {
      SCOPED_TRACE(label(*spec, c));
      body(*spec, c);
    }
}

template <class Body>
void each_real(const OpSpec& spec, const OpCase& c, const Body& body) {
  size_t k = 0;
  for (size_t i = 0; i < c.shapes.size(); ++i) {
    if (spec.arguments[i].optional && c.shapes[i].rank() == 0) continue;
    if (!spec.arguments[i].ids) body(k, i);
    ++k;
  }
}

void expect_near(const Tensor& fast, const Tensor& plain, double tolerance, const std::string& what) {
  ASSERT_EQ(fast.shape, plain.shape) << what;
  double largest = 1;
  for (int64_t i = 0; i < plain.count(); ++i)
    if (std::isfinite(plain.at(i))) largest = std::max(largest, std::fabs(plain.at(i)));
  for (int64_t i = 0; i < plain.count(); ++i) {
    if (!std::isfinite(plain.at(i))) {
      ASSERT_EQ(fast.at(i), plain.at(i)) << what << " at " << i;
    } else {
      ASSERT_NEAR(fast.at(i), plain.at(i), tolerance * largest) << what << " at " << i;
    }
  }
}

TEST(OpTable, FastEqualsPlainForwardAndBackward) {
  each_case([](const OpSpec& spec, const OpCase& c) {
    Instance<float> fast(spec, c);
    Instance<double> plain(spec, c);
    Tape fast_tape({Engine::fast, DType::f32}), plain_tape({Engine::reference, DType::f64});
    expect_near(fast.run(fast_tape).value(), plain.run(plain_tape).value(), spec.tolerance, "value");
    fast.weighted(fast_tape, true);
    plain.weighted(plain_tape, true);
    each_real(spec, c, [&](size_t k, size_t i) {
      expect_near(fast.grad(k, i), plain.grad(k, i), spec.tolerance,
                  std::string("gradient of ") + spec.arguments[i].name);
    });
  });
}

// Case 40: the gradient check, in the build that is tested.
TEST(OpTable, JacobianInDouble) {
  each_case([](const OpSpec& spec, const OpCase& c) {
    if (c.shapes[0].count() > 700)
      return;  // small shapes hold every path; the large ones are for fast = plain
    Instance<double> op(spec, c);
    Tape tape({Engine::reference, DType::f64});
    op.weighted(tape, true);
    each_real(spec, c, [&](size_t k, size_t i) {
      std::vector<int64_t> entries;
      for (int64_t n = 0; n < c.shapes[i].count(); ++n) {
        const bool held = i == 0 && n / c.shapes[i].cols() == c.held_row;
        if (held) {
          EXPECT_EQ(op.grad(k, i).at(n), 0) << "the held row has a gradient";
        }
        if (!held) entries.push_back(n);
      }
      GradientCheckOptions options;
      options.entries = entries;
      const GradientCheck check =
          check_gradient([&] { return op.weighted(tape, false); }, op.value(k, i), op.grad(k, i), options);
      EXPECT_LT(check.relative(), 1e-6) << spec.arguments[i].name << " at " << check.worst_at;
    });
  });
}

TEST(OpTable, GradientsAreAdded) {
  each_case([](const OpSpec& spec, const OpCase& c) {
    for (Engine engine : {Engine::reference, Engine::fast}) {
      Instance<float> zero(spec, c), one(spec, c, 1);
      Tape tape({engine, DType::f32});
      zero.weighted(tape, true);
      one.weighted(tape, true);
      each_real(spec, c, [&](size_t k, size_t i) {
        for (int64_t n = 0; n < zero.grad(k, i).count(); ++n)
          ASSERT_NEAR(one.grad(k, i).at(n), zero.grad(k, i).at(n) + 1, 2e-4) << spec.arguments[i].name;
      });
    }
  });
}

// A gradient that nothing was added to yet holds leftovers, here NaN: the first share is written over them.
TEST(OpTable, AFirstShareIsWrittenOverWhatIsLeft) {
  each_case([](const OpSpec& spec, const OpCase& c) {
    Tape tape({Engine::fast, DType::f32}), plain_tape({Engine::reference, DType::f64});
    const Tensor leftovers = tape.arena().tensor({int64_t{1} << 22}, DType::f32);
    std::fill_n(leftovers.as<float>(), leftovers.count(), std::nanf(""));
    tape.reset();
    Instance<float> fast(spec, c);
    Instance<double> plain(spec, c);
    fast.make_inputs_on_the_tape();
    fast.weighted(tape, true);
    plain.weighted(plain_tape, true);
    each_real(spec, c, [&](size_t k, size_t i) {
      expect_near(fast.inner_grad(k), plain.grad(k, i), spec.tolerance,
                  std::string("gradient of ") + spec.arguments[i].name);
    });
  });
}

TEST(OpTable, SameBitsForAnyNumberOfThreads) {
  const int before = threads();
  each_case([](const OpSpec& spec, const OpCase& c) {
    set_threads(1);
    Instance<float> one(spec, c);
    Tape tape({Engine::fast, DType::f32});
    const double value = one.weighted(tape, true);
    for (int count : {2, 7}) {
      set_threads(count);
      Instance<float> many(spec, c);
      EXPECT_EQ(many.weighted(tape, true), value) << count << " threads";
      each_real(spec, c, [&](size_t k, size_t i) {
        if (one.grad(k, i).count() == 0) return;  // nothing to compare, and no memory to point at
        EXPECT_EQ(std::memcmp(one.grad(k, i).data, many.grad(k, i).data,
                              static_cast<size_t>(one.grad(k, i).bytes())),
                  0)
            << spec.arguments[i].name << ", " << count << " threads";
      });
    }
  });
  set_threads(before);
}

TEST(OpTable, NothingIsKeptWithoutRecording) {
  each_case([](const OpSpec& spec, const OpCase& c) {
    Instance<float> op(spec, c);
    Tape tape({Engine::fast, DType::f32, false});
    EXPECT_FALSE(op.run(tape).wants_grad());
  });
}

// Every header in ops/ that declares an op (a function from a Tape to a Var) must have its row.
TEST(OpTable, EveryOpHasARow) {
  const std::regex declared("extern const OpSpec (\\w+)_spec;"),
      function("\n(Var|CrossEntropy) (\\w+)\\(Tape& tape");
  int found = 0;
  for (const auto& entry : std::filesystem::directory_iterator(TRIL_SOURCE_DIR "/src/tril/ops")) {
    if (entry.path().extension() != ".h") continue;
    const std::string text = read_file(entry.path());
    std::smatch match;
    if (!std::regex_search(text, function)) continue;
    ASSERT_TRUE(std::regex_search(text, match, declared)) << entry.path() << " declares an op and no row";
    EXPECT_NE(find_op(match[1].str()), nullptr) << match[1] << " has a row that is not in op_table.cc";
    ++found;
  }
  EXPECT_EQ(found, static_cast<int>(op_table().size()));
}

TEST(OpTable, EveryRowCoversOddShapes) {
  for (const OpSpec* spec : op_table()) {
    bool empty = false, one = false;
    for (const OpCase& c : spec->cases) {
      empty = empty || c.shapes[0].count() == 0 || (c.shapes.size() > 1 && c.shapes[1].count() == 0);
      const int64_t count = c.shapes[0].count();
      one = one || count == 1 || (count == 2 && std::string(spec->name) == "rotary");  // it turns pairs
    }
    EXPECT_TRUE(empty) << spec->name << " has no empty batch";
    EXPECT_TRUE(one) << spec->name << " has no case of size 1";
  }
}

}  // namespace
}  // namespace tril
