// What the tensors of a stage make PyTorch's allocator reserve: the events of its steps, one after the other,
// through both kinds of segments (memory/caching_allocator.h). The timeline's own `reserved` counts no holes;
// this does.
#pragma once

#include <cstdint>
#include <optional>
#include <stop_token>
#include <vector>

#include "memory/caching_allocator.h"
#include "plan/report.h"

namespace shardscape {

// A block, which is allocated where bytes > 0 and freed where they are 0. Blocks are numbered in the order of
// their first events.
struct BlockEvent {
  int32_t block = 0;
  int64_t bytes = 0;
  bool side = false;  // on a stream beside that of compute
};

struct StageEvents {
  std::vector<BlockEvent> events;
  size_t last_step = 0;  // where the step begins that stands for all after it
  int32_t blocks = 0;
};

// Two steps of a stage, of as many microbatches as show all that its schedule holds: parameters, gradients
// that stay and workspaces first; the moments of the optimizer when its first step makes them; so that the
// second step finds the cache that the first one has left. Parameters and states are blocks of their own for
// each tensor where the strategy of gradient sync keeps them so, flat buffers one; gathered units of FSDP are
// there all along, as in the timeline. All on one stream but for FSDP's sharded gradients, which the stream
// of reductions allocates (PyTorch fully_shard, foreach_reduce; FSDP1's _post_backward_stream): freed, they
// stay cached where no activation can have them. Of a report with its memory timeline.
StageEvents stage_events(const Report& report, int stage, std::stop_token stop = {});

// Of the second step. reserved - allocated is what fragmentation takes.
struct AllocatorUse {
  int64_t allocated = 0;  // at the fullest moment
  int64_t reserved = 0;   // at most (max_memory_reserved): the allocator gives nothing back until the device
                          // is full
  int64_t largest_free = 0;  // largest cached block at the fullest moment
  int64_t retries = 0;       // allocations, in both steps, that had to empty the cache first
  bool fits = true;          // none failed even then
  int64_t unused() const { return reserved - allocated; }
};

struct Fragmentation {
  int stage = 0;
  AllocatorUse native, expandable;
};

AllocatorUse allocator_use(const StageEvents& events, SegmentMode mode, int64_t capacity = 0);
// Of the fullest stage, on what the accelerator has beside the runtime; where tensors alone are more than
// that, on one that is large enough. Nothing when stopped. Milliseconds to tens of them (165,000 events of
// Llama 3.1 405B: 70): for those who look at one design.
std::optional<Fragmentation> fragmentation(const Report& report, std::stop_token stop = {});

}  // namespace shardscape
