// Which code base a recording was made of, and the kernel profile that describes it.
#pragma once

#include <string>

#include "validation/recording.h"

namespace shardscape {

enum class CodeBase : uint8_t {
  Unknown,
  MegatronLm,
  MegatronCore,
  Fairscale,
  Litgpt,
  Transformers,
  Mamba,
  TorchDdp,
  TorchFsdp,
  DeepSpeed
};
const char* code_base_label(CodeBase code);         // "Megatron-core"
CodeBase code_base_of(const Recording& recording);  // by its source

// Recordings of the plan of gradient and parameter sync only: a toy model given by its list of parameters.
inline bool is_sync_only(CodeBase code) {
  return code == CodeBase::TorchDdp || code == CodeBase::TorchFsdp || code == CodeBase::DeepSpeed;
}

}  // namespace shardscape
