// Memory: what the machine has, and what this process took at most. What it leaves out: planning (plan/).
#pragma once
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace tril {

/// Bytes this process may use: the machine's memory, or the control group's limit where that is lower.
int64_t machine_memory();

/// The largest resident size of this process so far, in bytes, or since forget_peak().
int64_t peak_memory();
/// peak_memory() begins anew, where the system lets it.
void forget_peak();

/// Throws std::bad_alloc where the process may not have so many bytes of addresses more: for a library that
/// does not survive being refused.
void require_room(size_t bytes);

/// Asks the system for large pages behind memory that is not touched yet: what streams through it then misses
/// fewer translations. Nothing else changes, and where it is refused nothing does.
void prefer_large_pages(void* start, size_t bytes);

/// Lets go of pages of a mapped file that were read: they no longer count as this process's memory, and come
/// back from the file where they are read again. Only for bytes of a MappedFile.
void release_pages(std::string_view mapped);

/// The resident size of this process now, in bytes; 0 where the system does not tell.
int64_t resident_memory();

}  // namespace tril
