// Every row of the op table against PyTorch's stored numbers (ops.json, decoder_ops.json; made in float64):
// value and gradients, by the reference engine in double and in float and by the fast engine.
#include <gtest/gtest.h>

#include <array>
#include <cstdlib>
#include <map>

#include "numbers.h"
#include "tril/ops/op_table.h"

namespace tril::parity {
namespace {

using nlohmann::json;

constexpr double kDoubleLimit = 1e-12, kFloatLimit = 1e-6;  // times max(1, the tensor's largest magnitude)

const json& stored_ops() {
  static const json all = [] {
    json ops = json::object();
    for (const char* file : {"ops", "decoder_ops"}) {
      const json numbers = load(file);
      for (const auto& op : numbers["ops"]) ops[op["op"].get<std::string>()] = op["cases"];
    }
    return ops;
  }();
  return all;
}

Shape shape_of(const json& tensor) {
  const auto dims = tensor["shape"].get<std::vector<int64_t>>();
  switch (dims.size()) {
    case 0:
      return {};
    case 1:
      return {dims[0]};
    case 2:
      return {dims[0], dims[1]};
    case 3:
      return {dims[0], dims[1], dims[2]};
    default:
      return {dims[0], dims[1], dims[2], dims[3]};
  }
}

/// What was made in float64: outputs and gradients.
std::vector<double> results_of(const json& tensor) {
  std::vector<double> out;
  for (const auto& value : tensor["data"]) out.push_back(value.is_string() ? -INFINITY : value.get<double>());
  return out;
}

/// What was drawn in float32, in the fewest digits that give it back: inputs, ids and upstream gradients.
template <class T>
std::vector<T> inputs_of(const json& tensor) {
  std::vector<T> out;
  for (const auto& value : tensor["data"])
    out.push_back(static_cast<T>(static_cast<float>(value.get<double>())));
  return out;
}

/// Largest difference over max(1, largest finite magnitude); −∞ must meet −∞.
template <class T>
double difference(const T* got, const json& tensor) {
  const auto expected = results_of(tensor);
  double largest = 1, worst = 0;
  for (double value : expected) largest = std::isfinite(value) ? std::max(largest, std::abs(value)) : largest;
  for (size_t i = 0; i < expected.size(); ++i) {
    const double value = static_cast<double>(got[i]);
    if (value == expected[i]) continue;
    const double apart = std::abs(value - expected[i]) / largest;
    if (!(apart <= worst)) worst = std::isnan(apart) ? INFINITY : apart;
  }
  return worst;
}

/// Runs one stored case and gives the largest difference of value and gradients.
template <class T>
double run_case(const OpSpec& spec, const json& stored, Engine engine) {
  Tape tape({engine, dtype_of<T>()});
  std::map<std::string, std::vector<T>> reals, grads;
  std::map<std::string, std::vector<int32_t>> ids;
  std::vector<Var> in;
  for (const OpArgument& argument : spec.arguments) {
    const std::string name = argument.name;
    if (!stored["inputs"].contains(name)) {
      EXPECT_TRUE(argument.optional) << "no stored argument '" << name << "'";
      continue;
    }
    const json& input = stored["inputs"][name];
    const Shape shape = shape_of(input);
    if (argument.ids) {
      ids[name] = inputs_of<int32_t>(input);
      in.push_back(tape.constant({shape, DType::i32, ids[name].data()}));
    } else {
      reals[name] = inputs_of<T>(input);
      grads[name].assign(reals[name].size(), T{0});
      in.push_back(tape.leaf({shape, dtype_of<T>(), reals[name].data()}, grads[name].data()));
    }
  }
  Attributes attributes;
  for (const auto& [name, value] : stored["attributes"].items())
    attributes[name] = value.template get<double>();
  const Var y = spec.call(tape, in, attributes);
  EXPECT_EQ(y.shape(), shape_of(stored["output"])) << y.shape().text();
  if (y.shape() != shape_of(stored["output"])) return INFINITY;
  double worst = difference(y.v<T>(), stored["output"]);

  const auto upstream = inputs_of<T>(stored["upstream"]);
  for (size_t i = 0; i < upstream.size(); ++i) y.g<T>()[i] += upstream[i];
  tape.backward(tape.make({}, true), 0);  // runs the records; the spare loss itself sends nothing back
  for (const auto& [name, expected] : stored["grads"].items()) {
    worst = std::max(worst, difference(grads.at(name).data(), expected));
  }
  return worst;
}

TEST(ParityOps, EveryRowAgreesWithPyTorchForwardAndBackward) {
  double worst_double = 0, worst_float = 0;
  for (const OpSpec* spec : op_table()) {
    SCOPED_TRACE(spec->name);
    if (!stored_ops().contains(spec->name)) {
      ADD_FAILURE() << "no stored numbers: add the op to tests/parity/ops.py or decoder_ops.py";
      continue;
    }
    int number = 0;
    for (const json& stored : stored_ops()[spec->name]) {
      SCOPED_TRACE("case " + std::to_string(number++) + " " + stored["attributes"].dump());
      const double in_double = run_case<double>(*spec, stored, Engine::reference);
      EXPECT_LE(in_double, kDoubleLimit) << "reference, f64";
      worst_double = std::max(worst_double, in_double);
      for (Engine engine : {Engine::reference, Engine::fast}) {
        const double in_float = run_case<float>(*spec, stored, engine);
        EXPECT_LE(in_float, kFloatLimit) << (engine == Engine::fast ? "fast, f32" : "reference, f32");
        worst_float = std::max(worst_float, in_float);
      }
    }
  }
  RecordProperty("largest_difference_f64", scientific(worst_double));
  RecordProperty("largest_difference_f32", scientific(worst_float));
}

}  // namespace
}  // namespace tril::parity
