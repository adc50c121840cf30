// The border between tril and its module tril_mpi.so: plain C, so that neither exceptions nor C++ types cross
// it, and so that any MPI will do. What it leaves out: what is sent, and when (train/parallel.h).
#pragma once
#include <cstdint>

extern "C" {

/// Who this process is among those that mpirun started.
struct TrilRankPlace {
  int rank, ranks;
  int local_rank, local_ranks;  // among those on this machine
  char library[96];             // "Open MPI 4.1.4"
};

/// Functions of the module. All ranks call the same ones in the same order. What MPI itself can't do (a peer
/// is gone) ends the whole job.
struct TrilRanksTable {
  /// Fills in `place`. 0; another number where MPI can't start.
  int (*join)(TrilRankPlace* place);
  /// Bytes of rank 0 to all. Waits without keeping a processor busy.
  void (*broadcast)(void* data, int64_t bytes);
  /// Every rank's bytes, in the order of ranks, to all.
  void (*gather)(const void* mine, int64_t bytes, void* all);
  /// Sums in place over ranks, in any order of the terms.
  void (*sum)(double* data, int64_t count);
  /// Begins such a sum of floats or doubles; `data` is MPI's until all that was begun is done.
  void (*begin_sum)(void* data, int64_t count, int doubles);
  /// Works on what was begun. Non-zero once all of it is done.
  int (*progress)(void);
  void (*leave)(void);
  /// The version text of the library, without starting it.
  void (*library)(char* text, int64_t room);
};

using TrilRanks = const TrilRanksTable* (*)(void);  // the module's one symbol: tril_ranks
}
