// tril_mpi: what ranks.cc asks of MPI. A shared object of its own, since linking MPI costs every start of the
// program 11 ms. One thread of the program calls it.
#include "tril/train/ranks_module.h"

#include <mpi.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <vector>

namespace {

std::vector<MPI_Request> begun;

void library(char* text, int64_t room) {
  char whole[MPI_MAX_LIBRARY_VERSION_STRING] = "";
  int length = 0;
  MPI_Get_library_version(whole, &length);
  // "Open MPI v4.1.4, package: ..." or "MPICH Version: 4.0.2 ..."
  const size_t size = std::min<size_t>(std::strcspn(whole, ",\n"), static_cast<size_t>(room) - 1);
  std::memcpy(text, whole, size);
  text[size] = '\0';
}

// Open MPI's own choice for a sum in place is a tree, which sends all numbers at each of its levels, up and
// down. Halving and doubling (Rabenseifner 2004) sends 2 (N − 1)/N of them in all: over a link of 100 Mbit/s
// 16 MB take 1.4 s by two ranks and 2.3 by four, in place of 2.7 and 6.2. What the user set stands.
void choose_sum() {
  setenv("OMPI_MCA_coll_libnbc_iallreduce_algorithm", "3", 0);
}

int join(TrilRankPlace* place) {
  choose_sum();
  int level = 0;
  if (MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &level) != MPI_SUCCESS) return 1;
  MPI_Comm machine = MPI_COMM_NULL;
  MPI_Comm_rank(MPI_COMM_WORLD, &place->rank);
  MPI_Comm_size(MPI_COMM_WORLD, &place->ranks);
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, place->rank, MPI_INFO_NULL, &machine);
  MPI_Comm_rank(machine, &place->local_rank);
  MPI_Comm_size(machine, &place->local_ranks);
  MPI_Comm_free(&machine);
  library(place->library, sizeof place->library);
  return 0;
}

// MPI's own waiting turns a processor all the time. Ranks may have fewer processors than they are, and a rank
// that waits for another's disk should leave it its processor.
void wait_for(MPI_Request request) {
  constexpr int kEager = 2000, kPolite = 4000;
  constexpr useconds_t kNap = 50;
  for (int tries = 0, done = 0;; ++tries) {
    MPI_Test(&request, &done, MPI_STATUS_IGNORE);
    if (done != 0) return;
    if (tries > kPolite)
      usleep(kNap);
    else if (tries > kEager)
      sched_yield();
  }
}

void broadcast(void* data, int64_t bytes) {
  char* at = static_cast<char*>(data);
  for (int64_t done = 0; done < bytes; done += INT_MAX) {
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Ibcast(at + done, static_cast<int>(std::min<int64_t>(bytes - done, INT_MAX)), MPI_BYTE, 0,
               MPI_COMM_WORLD, &request);
    wait_for(request);
  }
}

void gather(const void* mine, int64_t bytes, void* all) {
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Iallgather(mine, static_cast<int>(bytes), MPI_BYTE, all, static_cast<int>(bytes), MPI_BYTE,
                 MPI_COMM_WORLD, &request);
  wait_for(request);
}

void sum(double* data, int64_t count) {
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Iallreduce(MPI_IN_PLACE, data, static_cast<int>(count), MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &request);
  wait_for(request);
}

void begin_sum(void* data, int64_t count, int doubles) {
  constexpr int64_t kMost = INT_MAX / 16;
  for (int64_t done = 0; done < count; done += kMost) {
    const int some = static_cast<int>(std::min(count - done, kMost));
    char* at = static_cast<char*>(data) + done * (doubles != 0 ? 8 : 4);
    MPI_Iallreduce(MPI_IN_PLACE, at, some, doubles != 0 ? MPI_DOUBLE : MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD,
                   &begun.emplace_back(MPI_REQUEST_NULL));
  }
}

int progress() {
  int done = 1;
  if (!begun.empty()) MPI_Testall(static_cast<int>(begun.size()), begun.data(), &done, MPI_STATUSES_IGNORE);
  if (done != 0) begun.clear();
  return done;
}

void leave() {
  MPI_Finalize();
}

constexpr TrilRanksTable kTable = {join, broadcast, gather, sum, begin_sum, progress, leave, library};

}  // namespace

extern "C" __attribute__((visibility("default"))) const TrilRanksTable* tril_ranks(void) {
  return &kTable;
}
