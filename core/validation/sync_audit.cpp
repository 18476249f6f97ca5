#include "validation/sync_audit.h"

#include <algorithm>

#include "validation/compare_lines.h"
#include "validation/volumes.h"

namespace shardscape {
namespace {

std::string place(const std::string& phase, const std::string& type, const std::string& group,
                  int64_t elements) {
  return phase + " " + type + " " + group + " " + std::to_string(elements);
}

}  // namespace

void compare_sync(const SyncCase& sync, Audit& audit) {
  auto plan = plan_sync(sync.input, sync.policy);
  if (const auto* problem = std::get_if<Problem>(&plan)) {
    audit.problems.push_back(*problem);
    return;
  }
  Wide whole = 0;
  for (const SyncParam& p : sync.input.params) whole += p.elements();
  const RecordedField* total = audit.recording.field("config.params_total");
  if (!total) total = audit.recording.field("config.params");
  if (const int64_t* n = total ? std::get_if<int64_t>(&total->value) : nullptr)
    audit.lines.push_back(exact_line("parameters", "of the whole model", {{"", *n, whole}}));

  const GroupNames groups(audit.mapping.design);
  Volumes got;
  std::vector<std::string> got_order, expected_order;
  for (int64_t mb = 0; mb < sync.policy.microbatches; ++mb)
    for (const SyncAction& a : std::get<SyncPlan>(plan).actions) {
      if (!sync_happens(a.occurrence, mb, sync.policy.microbatches)) continue;
      const std::string phase(phase_name(a.phase)), type(collective_kind_name(a.op)),
          group = groups.name(a.group);
      Volume& v = got[volume_key(phase, type, group, dtype_name(a.dtype))];
      v.count += 1;
      v.elements += a.elements;
      v.bytes += Wide(a.elements) * dtype_bytes(a.dtype);
      got_order.push_back(place(phase, type, group, a.elements));
    }
  for (const RecordedCollective& c : audit.recording.collectives)
    if (counts(c, groups)) expected_order.push_back(place(c.phase, c.type, groups.name(c.group), c.elements));
  compare_volumes(recorded_volumes(audit.recording, groups), got, audit.lines);
  audit.lines.push_back(order_line("collectives of the step", expected_order, got_order));
}

}  // namespace shardscape
