// The argument --pipeline-model-parallel-layout: which layers are on which virtual stage
// (megatron/core/transformer/pipeline_parallel_layer_layout.py).
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace shardscape {

// "E|(t|)*3,m|m||L": E embedding, t decoder layer, m layer of multi-token prediction, L loss; "|" ends a
// stage.
struct MegatronLayout {
  std::vector<int64_t> layers;  // decoder layers of each virtual stage, in the order of the model
  bool usual = false;           // embedding on the first stage; prediction and loss on the last
};

// nullopt: the text is no layout.
std::optional<MegatronLayout> read_megatron_layout(std::string_view text);

}  // namespace shardscape
