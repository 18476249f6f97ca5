// The modules of selective recomputation, named as in Megatron-core's --recompute-modules. MlpAct is the
// activation of dense layers, MoeAct that of experts.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string_view>

namespace shardscape {

enum class RecomputeModule : uint8_t {
  CoreAttn,
  Layernorm,
  MlpAct,
  Mlp,
  MoeAct,
  Moe,
  SharedExperts,
  MlaUpProj
};
inline constexpr int kRecomputeModuleCount = 8;
std::string_view recompute_module_name(RecomputeModule module);   // "core_attn"
std::string_view recompute_module_label(RecomputeModule module);  // "Attention core"
std::optional<RecomputeModule> recompute_module_from_name(std::string_view name);

// A checkpointed module saves its result for the consumers. These modules are cheap enough to discard the
// result after the forward and recompute it too (Megatron-core, CheckpointWithoutOutput).
bool discards_result(RecomputeModule module);

struct RecomputeModules {
  uint16_t bits = 0;
  bool has(RecomputeModule module) const { return (bits >> static_cast<int>(module) & 1) != 0; }
  void add(RecomputeModule module) { bits = static_cast<uint16_t>(bits | 1 << static_cast<int>(module)); }
  friend RecomputeModules operator&(RecomputeModules a, RecomputeModules b) {
    return {static_cast<uint16_t>(a.bits & b.bits)};
  }
  friend RecomputeModules operator|(RecomputeModules a, RecomputeModules b) {
    return {static_cast<uint16_t>(a.bits | b.bits)};
  }
  auto operator<=>(const RecomputeModules&) const = default;
};

// The modules that contain an op: those of its block plus those of the op's kind. op: the name in the
// template ("attention", "swiglu"). stream: the result has the size of the residual stream.
RecomputeModules modules_of(std::string_view op, RecomputeModules block, bool stream);

}  // namespace shardscape
