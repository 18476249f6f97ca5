// Checks offload to the host.
#include <algorithm>

#include "base/units.h"
#include "design/validate/checks.h"

namespace shardscape {

void check_offload(Checks& checks) {
  const Design& d = checks.design;
  const int64_t number = d.workload.offload_activations;
  if (number == 0 || checks.first_only ||
      !checks.in_range({"offload_activations", "layers", "pp", "virtual_stages"}))
    return;
  const std::vector<int64_t> chunks = layers_per_virtual_stage(d);
  const int64_t most = chunks.empty() ? 0 : *std::max_element(chunks.begin(), chunks.end());
  if (most < 1 || number <= most) return;
  checks.note(ProblemCode::OffloadExceedsStage, "offload_activations",
              grouped(number) + " layers are more than " + grouped(most) +
                  ", the most that a virtual stage holds; the rest has no effect",
              "0 to " + grouped(most),
              {set_to("offload_activations", most), set_to("offload_activations", 0)});
}

}  // namespace shardscape
