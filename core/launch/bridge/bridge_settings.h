// Settings of Megatron-Bridge's ConfigContainer ("model.num_layers", "train.global_batch_size"), as arguments
// of Megatron-LM. Names and defaults: NVIDIA-NeMo/Megatron-Bridge 067f987 (2026-08-22).
#pragma once

#include "launch/megatron/megatron_settings.h"

namespace shardscape {

void translate_bridge_settings(MegatronSettings& settings);
// Learned positions are as many as the sequence has tokens. After all values that say the length.
void derive_bridge_positions(MegatronSettings& settings);

}  // namespace shardscape
