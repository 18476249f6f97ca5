// Count and size of collectives, keyed by phase, type, group and data type. Both sides of an audit use the
// same keys. Private to core/validation.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "validation/audit.h"

namespace shardscape {

struct Volume {
  Wide count = 0, elements = 0, bytes = 0;
};
using Volumes = std::map<std::string, Volume>;  // "forward all_gather tp bfloat16"

// Names groups by their axes with more than one rank: "dp_cp" is "dp" if cp = 1, "edp(dp modulo ep)" is
// "edp".
class GroupNames {
 public:
  explicit GroupNames(const Design& design);
  std::string name(const std::string& recorded) const;  // empty if all axes have one rank

 private:
  std::map<std::string, int64_t> degrees_;
};

// Whether a recorded collective counts. Excluded: start-up, groups of one rank, bookkeeping and the averaging
// of the loss.
bool counts(const RecordedCollective& c, const GroupNames& groups);
std::string volume_key(const std::string& phase, const std::string& type, const std::string& group,
                       std::string_view dtype);

Volumes recorded_volumes(const Recording& recording, const GroupNames& groups);
Volumes reported_volumes(const StageReport& stage, const GroupNames& groups);

// Collectives of forward, recomputation and backward of a step in issue order: "forward all_gather tp
// 33554432". Excluded: collectives of data-parallel groups, whose buckets decide when they start, and
// pipeline transfers.
std::vector<std::string> recorded_order(const Recording& recording, const GroupNames& groups);
// Returns at most `most` entries: entries beyond the end of the recorded list are not compared.
std::vector<std::string> reported_order(const Report& report, const StageReport& stage,
                                        const GroupNames& groups, size_t most);

// "FFBFBB": the forwards and backwards of the stage in a step.
std::string reported_schedule(const Report& report, const StageReport& stage);

}  // namespace shardscape
