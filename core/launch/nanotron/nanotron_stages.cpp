#include "launch/nanotron/nanotron_stages.h"

#include <cstddef>

#include "base/wide.h"

namespace shardscape {

std::vector<int64_t> nanotron_stages(const NanotronShape& shape, int64_t pp) {
  const int64_t layer = 4 * shape.hidden * shape.hidden + 3 * shape.hidden * shape.ffn,
                head = shape.vocab * shape.hidden, all = shape.layers * layer + head;
  std::vector<int64_t> stages;  // layers of the stages so far
  int64_t cost = 0;
  bool opens = true;  // the next block is the first one of a stage
  const auto take = [&](int64_t block_cost, bool is_layer) {
    if (opens) stages.push_back(0);
    stages.back() += is_layer;
    cost += block_cost;
    opens = Wide(cost) * pp > Wide(all) * static_cast<int64_t>(stages.size());
  };
  take(0, false);  // token embedding
  for (int64_t i = 0; i < shape.layers; ++i) take(layer, true);
  take(0, false);  // final norm
  take(head, false);
  take(0, false);  // cast of the logits
  take(0, false);  // loss
  if (static_cast<int64_t>(stages.size()) != pp) return {};
  // Stages between the layers and the loss may have no layers. A design has its head on the last stage, and
  // its other stages have at least one layer.
  for (size_t s = stages.size() - 1; s-- > 1;)
    if (stages[s] == 0) {
      size_t from = s;
      while (from > 0 && stages[from] < 2) --from;
      --stages[from];
      ++stages[s];
    }
  return stages;
}

}  // namespace shardscape
