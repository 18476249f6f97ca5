// The settings of torchtitan's JobConfig, read into a design. Names, defaults and rules: pytorch/torchtitan
// v0.2.2 (73a0e6979dd10b6b1904098eb3c8f62c18ab87ce), torchtitan/config/job_config.py. Settings with other
// names in v0.1.0 are read, too.
#pragma once

#include <vector>

#include "launch/launch_fields.h"
#include "launch/launch_import.h"
#include "launch/launch_parts.h"

namespace shardscape {

// Degrees of a launch. shard: -1 takes the GPUs that the others leave.
struct TorchtitanDegrees {
  int64_t replicate = 1, shard = -1, cp = 1, tp = 1, pp = 1;
  int64_t inner() const { return capped_product({replicate, cp, tp, pp}); }
};
// Numbers that are no degrees are 1 (shard: -1).
TorchtitanDegrees torchtitan_degrees(const LaunchArguments& arguments);

// Layers per virtual stage, first to last (generate_llm_fqn_per_model_part,
// torchtitan/distributed/pipeline_parallel.py): the embedding counts as `first` layers and the head as
// `last`. Empty if torchtitan refuses the split.
std::vector<int64_t> torchtitan_stages(int64_t layers, int64_t stages, int64_t first, int64_t last);

// Problems go to `out`.
LaunchDesign read_torchtitan_settings(const LaunchArguments& arguments, const LaunchRequest& request,
                                      LaunchImport& out);

}  // namespace shardscape
