#include "tril/check/check.h"

namespace tril {

CheckRow at_most(std::string name, double value, double limit, std::string what) {
  return {std::move(name), value <= limit, value, limit, std::move(what)};
}

CheckRow below(std::string name, double value, double limit, std::string what) {
  return {std::move(name), value < limit, value, limit, std::move(what)};
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
  return rows;
}

}  // namespace tril
