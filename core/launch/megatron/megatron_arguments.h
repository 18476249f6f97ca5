// Launch arguments of Megatron-LM's pretrain_gpt.py, read into a design. Names, defaults and derivations are
// those of NVIDIA/Megatron-LM d98e8a6 (2026-08-22): megatron/training/arguments.py,
// megatron/core/transformer/transformer_config.py and megatron/core/model_parallel_config.py.
#pragma once

#include <cstdint>

#include "launch/launch_fields.h"

namespace shardscape {

// gpus: all ranks (torchrun, srun); data parallelism follows from it (arguments.py, data_parallel_size =
// world / (tp pp cp)). The design is not validated, and its accelerator is the default. Without
// --vocab-size, the vocabulary is GPT-2's, which the default tokenizer has.
LaunchDesign read_megatron_arguments(const LaunchArguments& arguments, int64_t gpus);

}  // namespace shardscape
