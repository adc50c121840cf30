#include "tril/check/check.h"

#include "tril/model/registry.h"
#include "tril/tensor/python_random.h"
#include "tril/tensor/random.h"
#include "tril/train/trainer.h"

namespace tril {

CheckRow at_most(std::string name, double value, double limit, std::string what) {
  return {std::move(name), value <= limit, value, limit, std::move(what), ""};
}

CheckRow below(std::string name, double value, double limit, std::string what) {
  return {std::move(name), value < limit, value, limit, std::move(what), ""};
}

std::unique_ptr<Model> fresh_model(const Config& config) {
  std::unique_ptr<Model> model = make_model(config.model, dtype_of(config.run));
  const auto seed = static_cast<uint64_t>(config.train.seed);
  if (config.train.random == "python") {
    PythonRandom random(seed);
    model->initialize(random);
  } else {
    TorchGenerator random(seed);
    model->initialize(random);
  }
  return model;
}

std::vector<CheckRow> check_model(const CheckSubject& subject,
                                  const std::function<void(const std::string&)>& started) {
  std::vector<CheckRow> rows;
  const auto start = [&](const char* group) {
    if (started) started(group);
  };
  start("attention");
  check_attention(subject, rows);
  check_cache(subject, rows);
  start("numbers");
  check_numbers(subject, rows);
  start("gradients");
  check_gradients(subject, rows);
  start("overfit");
  check_overfit(subject, rows);
  for (CheckRow& row : rows) row.subject = subject.of;
  return rows;
}

}  // namespace tril
