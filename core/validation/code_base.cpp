#include "validation/code_base.h"

#include <array>

namespace shardscape {
namespace {

struct Known {
  CodeBase code;
  const char* label;
  const char* word;  // occurs in the source of its recordings
};
// The first match counts: the repository of Megatron-LM contains Megatron-core.
constexpr std::array<Known, 9> kKnown{{{CodeBase::MegatronCore, "Megatron-core", "megatron.core"},
                                       {CodeBase::MegatronLm, "Megatron-LM", "Megatron-LM"},
                                       {CodeBase::Fairscale, "llama3 with fairscale", "fairscale"},
                                       {CodeBase::Litgpt, "litgpt", "litgpt"},
                                       {CodeBase::Transformers, "Hugging Face style", "transformers"},
                                       {CodeBase::Mamba, "Mamba", "state-spaces/mamba"},
                                       {CodeBase::TorchDdp, "torch DDP", "DistributedDataParallel"},
                                       {CodeBase::TorchFsdp, "torch FSDP", "FullyShardedDataParallel"},
                                       {CodeBase::DeepSpeed, "DeepSpeed", "DeepSpeed"}}};

}  // namespace

const char* code_base_label(CodeBase code) {
  for (const Known& known : kKnown)
    if (known.code == code) return known.label;
  return "unknown";
}

CodeBase code_base_of(const Recording& recording) {
  for (const Known& known : kKnown)
    if (recording.source.find(known.word) != std::string::npos) return known.code;
  return CodeBase::Unknown;
}

}  // namespace shardscape
