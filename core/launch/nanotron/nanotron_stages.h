// Layers per pipeline stage of nanotron.
#pragma once

#include <cstdint>
#include <vector>

namespace shardscape {

struct NanotronShape {
  int64_t layers, hidden, ffn, vocab;
};

// Layers per stage, by nanotron's rule (src/nanotron/models/base.py, build_model): a stage takes blocks until
// their cumulative cost exceeds its share of the whole cost. The costs are those of get_block_compute_costs
// (src/nanotron/models/llama.py): the parameters of layers and of the head, and 0 of other blocks. Returns no
// stages if a stage gets no block; nanotron then fails.
std::vector<int64_t> nanotron_stages(const NanotronShape& shape, int64_t pp);

}  // namespace shardscape
