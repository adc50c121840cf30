// Ranks over MPI's module.
#include "tril/train/ranks.h"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "tril/base/error.h"
#include "tril/base/module.h"
#include "tril/train/ranks_module.h"

namespace tril {
namespace {

constexpr const char* kModule = "tril_mpi.so";
constexpr const char* kPackages = "libopenmpi-dev and openmpi-bin";

class MpiRanks : public Ranks {
 public:
  explicit MpiRanks(const TrilRanksTable& table) : table_(table) {
    TrilRankPlace place{};
    if (table.join(&place) != 0) refuse("MPI does not start");
    rank_ = place.rank, ranks_ = place.ranks, local_ranks_ = place.local_ranks;
    library_ = place.library;
  }
  void broadcast(void* data, int64_t bytes) override { table_.broadcast(data, bytes); }
  void gather(const void* mine, int64_t bytes, void* all) override { table_.gather(mine, bytes, all); }
  void sum(double* data, int64_t count) override { table_.sum(data, count); }
  void begin_sum(const Tensor& numbers) override {
    table_.begin_sum(numbers.data, numbers.count(), numbers.dtype == DType::f64 ? 1 : 0);
  }
  bool progress() override { return table_.progress() != 0; }
  void leave() override { table_.leave(); }

 private:
  const TrilRanksTable& table_;
};

int number_in(const char* variable) {
  const char* text = std::getenv(variable);
  if (text == nullptr) return 0;
  int number = 0;
  const std::string_view digits = text;
  const auto [end, fault] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  return fault == std::errc() && end == digits.data() + digits.size() ? number : 0;
}

}  // namespace

void Ranks::broadcast_text(std::string& text) {
  auto size = static_cast<int64_t>(text.size());
  broadcast(&size, sizeof size);
  text.resize(static_cast<size_t>(size));
  if (size > 0) broadcast(text.data(), size);
}

std::vector<std::string> Ranks::gather_texts(const std::string& mine) {
  constexpr size_t kRoom = 1001;
  std::vector<char> one(kRoom, 0), all(kRoom * static_cast<size_t>(ranks_), 0);
  std::copy_n(mine.data(), std::min(mine.size(), kRoom - 1), one.data());
  gather(one.data(), static_cast<int64_t>(kRoom), all.data());
  std::vector<std::string> texts;
  for (size_t r = 0; r < static_cast<size_t>(ranks_); ++r) texts.emplace_back(all.data() + r * kRoom);
  return texts;
}

int launched_ranks() {
  return std::max({1, number_in("OMPI_COMM_WORLD_SIZE"), number_in("PMI_SIZE")});
}

std::unique_ptr<Ranks> join_ranks(const std::vector<std::string>& modules) {
  const int launched = launched_ranks();
  if (launched == 1) return nullptr;
  const LoadedModule module = load_module(modules.empty() ? module_paths(kModule) : modules, "tril_ranks");
  if (module.symbol == nullptr)
    refuse(
        "mpirun started {} ranks, and this tril has no MPI{}: install the packages {} and build again, or "
        "start tril without mpirun",
        launched, module.why.empty() ? "" : " (" + module.why + ")", kPackages);
  auto ranks = std::make_unique<MpiRanks>(*reinterpret_cast<TrilRanks>(module.symbol)());
  if (ranks->ranks() != launched)
    refuse("this mpirun started {} ranks, but tril's MPI ({}) sees {}: take the mpirun of that MPI", launched,
           ranks->library(), ranks->ranks());
  return ranks;
}

std::string mpi_version() {
  const LoadedModule module = load_module(module_paths(kModule), "tril_ranks");
  if (module.symbol == nullptr) return "";
  char text[96] = "";
  reinterpret_cast<TrilRanks>(module.symbol)()->library(text, sizeof text);
  return text;
}

int threads_of_rank(Ranks& ranks) {
  struct Place {
    char machine[64];
    cpu_set_t processors;
  };
  Place mine{};
  gethostname(mine.machine, sizeof mine.machine - 1);
  sched_getaffinity(0, sizeof mine.processors, &mine.processors);
  std::vector<Place> all(static_cast<size_t>(ranks.ranks()));
  ranks.gather(&mine, sizeof mine, all.data());
  double share = 0;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (!CPU_ISSET(cpu, &mine.processors)) continue;
    int users = 0;
    for (const Place& other : all)
      users += std::strcmp(other.machine, mine.machine) == 0 && CPU_ISSET(cpu, &other.processors) ? 1 : 0;
    share += 1.0 / std::max(users, 1);
  }
  return std::max(1, static_cast<int>(share + 1e-6));
}

}  // namespace tril
