// How a person spreads the model over ranks.
#pragma once

#include <cstdint>
#include <vector>

#include "parallel/mesh.h"

namespace shardscape {

enum class ScheduleKind : uint8_t { GPipe, OneFOneB };

struct ParallelSpec {
  int64_t tp = 1, pp = 1, dp = 1, cp = 1;
  bool sequence_parallel = false;
  ScheduleKind schedule = ScheduleKind::OneFOneB;
  std::vector<int64_t> stage_layers;  // layers of every stage; empty: as even as possible, earlier stages take the rest
  RankOrder order;
  friend bool operator==(const ParallelSpec&, const ParallelSpec&) = default;
};

}  // namespace shardscape
