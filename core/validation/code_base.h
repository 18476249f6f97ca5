// The code base that made a recording; it selects the kernel profile.
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
CodeBase code_base_of(const Recording& recording);  // from the source of the recording

// Whether recordings of the code base contain only the plan of gradient and parameter sync. Their model is a
// toy: a list of parameters.
inline bool is_sync_only(CodeBase code) {
  return code == CodeBase::TorchDdp || code == CodeBase::TorchFsdp || code == CodeBase::DeepSpeed;
}

}  // namespace shardscape
