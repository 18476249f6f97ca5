#include "launch/server/served_model.h"

#include "model/preset_names.h"

namespace shardscape {
namespace {

struct Checkpoint {
  const char* preset;
  const char *fp8, *fp4, *int4;  // null: there is none
};
// gpt-oss: the publisher's experts have 4 bits, whatever the label.
constexpr char
    kAllBlocks[] = "attention=fp8-block, mlp=fp8-block, experts=fp8-block, shared_experts=fp8-block";
constexpr Checkpoint kCheckpoints[] = {
    {"deepseek-v3", kAllBlocks, "mlp=nvfp4, experts=nvfp4, shared_experts=nvfp4", nullptr},
    {"deepseek-v3.2", kAllBlocks, nullptr, nullptr},
    {"glm-5", kAllBlocks, nullptr, nullptr},
    {"glm-5.2", kAllBlocks, nullptr, nullptr},
    {"gpt-oss-20b", nullptr, "experts=mxfp4", nullptr},
    {"gpt-oss-120b", nullptr, "experts=mxfp4", nullptr},
    {"kimi-k2.5", nullptr, "experts=nvfp4", "experts=int4-g32"},
    {"minimax-m2.5", "attention=fp8-block, experts=fp8-block", "experts=nvfp4", nullptr},
    {"mixtral-8x7b", "attention=fp8, experts=fp8", nullptr, nullptr},
    {"qwen3-235b-a22b", "attention=fp8-block, experts=fp8-block", nullptr, nullptr},
    {"qwen3.5-397b-a17b", "attention=fp8-block, mixer=fp8-block, experts=fp8-block, shared_experts=fp8-block",
     "experts=nvfp4", nullptr},
};

bool has(const std::string& name, const char* part) { return name.find(part) != std::string::npos; }

}  // namespace

std::string served_precision(const std::string& name) {
  const std::string known = plain_name(name.substr(name.rfind('/') + 1));
  if (has(known, "bf16")) return "bf16";
  if (has(known, "awq") || has(known, "gptq") || has(known, "int4") || has(known, "w4a16")) return "int4";
  if (has(known, "gptoss")) return "mxfp4";
  if (has(known, "fp4")) return "fp4";
  // Names of checkpoints with one scale per tensor or row come from NVIDIA, Red Hat and AMD; those of the
  // makers of models have blocks of 128.
  const bool of_tensors = name.starts_with("nvidia/") || name.starts_with("RedHatAI/") ||
                          name.starts_with("neuralmagic/") || name.starts_with("amd/") || has(known, "llama");
  if (has(known, "fp8")) return of_tensors ? "fp8" : "fp8_block";
  for (const char* deepseek : {"deepseekr1", "deepseekv3"})
    if (known.starts_with(deepseek) && !has(known, "distill")) return "fp8_block";
  return {};
}

std::optional<ServedFormats> served_formats(const std::string& preset, bool experts,
                                            const std::string& precision) {
  const bool fp8 = precision.starts_with("fp8"), fp4 = precision == "fp4" || precision == "nvfp4";
  if (!experts) {
    if (!fp8 && !fp4) return std::nullopt;
    const std::string format = fp4 ? "nvfp4" : precision == "fp8_block" ? "fp8-block" : "fp8";
    return ServedFormats{"attention=" + format + ", mlp=" + format, true};
  }
  for (const Checkpoint& checkpoint : kCheckpoints) {
    if (preset != checkpoint.preset) continue;
    const char* text = fp8                           ? checkpoint.fp8
                       : fp4 || precision == "mxfp4" ? checkpoint.fp4
                       : precision == "int4"         ? checkpoint.int4
                                                     : nullptr;
    if (text) return ServedFormats{text};
  }
  return std::nullopt;
}

}  // namespace shardscape
