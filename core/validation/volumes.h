// Collectives in the same words on both sides: phase, type, group and data type, with how often and how much.
// Private to core/audit.
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

// Names groups by the axes that split anything: "dp_cp" is "dp" where cp = 1, "edp(dp modulo ep)" is "edp".
class GroupNames {
 public:
  explicit GroupNames(const Design& design);
  std::string name(const std::string& recorded) const;  // empty where every axis has one rank

 private:
  std::map<std::string, int64_t> degrees_;
};

// Whether a recorded collective counts: not start-up, not alone in its group, not bookkeeping, not the
// averaged loss.
bool counts(const RecordedCollective& c, const GroupNames& groups);
std::string volume_key(const std::string& phase, const std::string& type, const std::string& group,
                       std::string_view dtype);

Volumes recorded_volumes(const Recording& recording, const GroupNames& groups);
Volumes reported_volumes(const StageReport& stage, const GroupNames& groups);

// Collectives of forward, recomputation and backward in order of issue over a whole step: "forward all_gather
// tp 33554432". Those of data parallel groups are left out, since buckets decide when they start, and so are
// transfers of the pipeline.
std::vector<std::string> recorded_order(const Recording& recording, const GroupNames& groups);
// At most this many: beyond the end of the other list nothing is compared.
std::vector<std::string> reported_order(const Report& report, const StageReport& stage,
                                        const GroupNames& groups, size_t most);

// "FFBFBB": what the stage runs in a step.
std::string reported_schedule(const Report& report, const StageReport& stage);

}  // namespace shardscape
