// ranks: the processes that mpirun started together, and how they talk. MPI itself sits in the module
// tril_mpi, loaded here on need. What it leaves out: what they say to each other (train/parallel.h).
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "tril/tensor/tensor.h"

namespace tril {

/// All ranks call the same functions in the same order. Thread safety: none; one thread of each rank calls.
class Ranks {
 public:
  virtual ~Ranks() = default;
  Ranks(const Ranks&) = delete;
  Ranks& operator=(const Ranks&) = delete;

  int rank() const { return rank_; }
  int ranks() const { return ranks_; }
  /// How many of them share this machine.
  int local_ranks() const { return local_ranks_; }
  bool leads() const { return rank_ == 0; }
  const std::string& library() const { return library_; }

  /// Bytes of rank 0 to all.
  virtual void broadcast(void* data, int64_t bytes) = 0;
  /// `bytes` of every rank, in the order of ranks.
  virtual void gather(const void* mine, int64_t bytes, void* all) = 0;
  /// Sums in place; the order of the terms is the library's.
  virtual void sum(double* data, int64_t count) = 0;
  /// Begins such a sum, of floats or doubles; the numbers are not touched until progress() says that all is
  /// done.
  virtual void begin_sum(const Tensor& numbers) = 0;
  /// Works a little on the sums that were begun; true when all of them are done.
  virtual bool progress() = 0;
  /// The last call, where all is well. Without it the library ends all ranks when this process ends.
  virtual void leave() = 0;

  /// A text of rank 0 to all.
  void broadcast_text(std::string& text);
  /// A text of each rank, cut to 1,000 bytes.
  std::vector<std::string> gather_texts(const std::string& mine);

 protected:
  Ranks() = default;
  int rank_ = 0, ranks_ = 1, local_ranks_ = 1;
  std::string library_;
};

/// How many ranks the environment says that mpirun started (Open MPI's and MPICH's names); 1 where none did.
int launched_ranks();

/// Joins the ranks that mpirun started; null where this process was started alone. Throws Refusal where it
/// was not and there is no module for MPI, or one of another MPI than mpirun's. `modules`: where it is looked
/// for; empty: module_paths().
std::unique_ptr<Ranks> join_ranks(const std::vector<std::string>& modules = {});

/// "Open MPI v4.1.4"; empty where there is no module for MPI, or it can't be loaded.
std::string mpi_version();

/// How many threads each rank should have so that those on one machine share its processors: for each
/// processor this rank may use, its share among the local ranks that may use it, too. At least 1.
int threads_of_rank(Ranks& ranks);

}  // namespace tril
