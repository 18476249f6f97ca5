// The memory that the process may still take, and the refusal of work that needs more. Work asks before it
// starts: an allocation that fails in the middle would end the program.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/problem.h"
#include "base/wide.h"

namespace shardscape {

// Bytes: the least of what the computer has available, what the process's limit of address space leaves, and
// what the memory limits of its control groups leave. Without a limit, the largest int64_t.
int64_t free_memory();

struct MemoryNeed {
  std::string what;      // "simulating 1,000,000 microbatches"
  Wide bytes = 0;        // estimated from the sizes of the structures
  std::string where;     // the knob or option to lower
  std::string accepted;  // "a smaller batch, ..."
};
// A Problem with code MemoryShort if the work needs more than there is. Small needs are never refused, and
// cost no look at the limits.
std::optional<Problem> memory_short(const MemoryNeed& need);

}  // namespace shardscape
