// The bytes that are always allocated on a stage: parameters, gradients, optimizer states, caches, and
// buffers that live from the start to the end of a step.
#pragma once

#include <utility>
#include <vector>

#include "memory/action_terms.h"
#include "plan/report.h"

namespace shardscape {

// Bytes that are always allocated on a stage.
struct FixedBytes {
  CategoryBytes sums{};
  std::vector<std::pair<MemoryCategory, int64_t>> blocks;
  std::vector<std::pair<const char*, PartKind>> names;  // of the blocks
  void add(const char* name, MemoryCategory category, int64_t bytes, PartKind kind = PartKind::Other) {
    if (bytes == 0) return;
    sums[static_cast<size_t>(category)] += bytes;
    blocks.emplace_back(category, bytes);
    names.emplace_back(name, kind);
  }
};

// The part of FixedBytes that follows from the layers, the schedule and the lifetimes of gradients.
struct FixedBuffers {
  bool transient_gradients = false;
  int64_t gradients = 0;  // bytes that always exist, of transient gradients
  int64_t dummy_gradients = 0, received = 0;
  int64_t graph_pool = 0;  // the memory pool of CUDA graphs (memory/graph_capture.h)
  friend bool operator==(const FixedBuffers&, const FixedBuffers&) = default;
};
FixedBytes fixed_bytes(const Report& report, const StageReport& stage, const FixedBuffers& buffers);

}  // namespace shardscape
