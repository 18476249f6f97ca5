// Bounds for files whose size a sparse file may only pretend.
#pragma once

#include <unistd.h>

#include <cstdint>

namespace shardscape {

// Whether so many bytes fit into the memory of the machine.
inline bool fits_in_memory(uint64_t bytes) {
  return bytes <=
         static_cast<uint64_t>(::sysconf(_SC_PHYS_PAGES)) * static_cast<uint64_t>(::sysconf(_SC_PAGESIZE));
}

}  // namespace shardscape
