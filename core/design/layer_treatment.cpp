#include "design/layer_treatment.h"

#include <algorithm>

namespace shardscape {

std::vector<LayerTreatment> layer_treatments(const WorkloadSpec& workload, int64_t layers) {
  const bool full = workload.recompute == Recompute::Full,
             block = workload.recompute_method == RecomputeMethod::Block;
  const int64_t number = std::max<int64_t>(1, workload.recompute_num_layers);
  std::vector<LayerTreatment> out;
  for (int64_t i = 0; i < layers; ++i) {
    const bool recomputed = full && (!block || i < number);
    const int64_t begin = recomputed && !block ? i / number * number : i;
    out.push_back({recomputed, begin, recomputed && !block ? std::min(begin + number, layers) : i + 1,
                   i < workload.offload_activations});
  }
  return out;
}

}  // namespace shardscape
