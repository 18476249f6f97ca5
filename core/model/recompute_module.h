// Parts of a layer that selective recomputation may choose, under the names of Megatron-core's --recompute-modules; mlp_act
// is the same for dense layers as moe_act for experts.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string_view>

namespace shardscape {

enum class RecomputeModule : uint8_t { CoreAttn, Layernorm, MlpAct, Mlp, MoeAct, Moe, SharedExperts, MlaUpProj };
inline constexpr int kRecomputeModuleCount = 8;
std::string_view recompute_module_name(RecomputeModule module);   // "core_attn"
std::string_view recompute_module_label(RecomputeModule module);  // "Attention core"
std::optional<RecomputeModule> recompute_module_from_name(std::string_view name);

// Of a checkpointed module the result is kept, for whoever reads it next. These are cheap enough to make even their result
// again: it is thrown away once the forward has used it (Megatron-core, CheckpointWithoutOutput).
bool discards_result(RecomputeModule module);

struct RecomputeModules {
  uint16_t bits = 0;
  bool has(RecomputeModule module) const { return (bits >> static_cast<int>(module) & 1) != 0; }
  void add(RecomputeModule module) { bits = static_cast<uint16_t>(bits | 1 << static_cast<int>(module)); }
  friend RecomputeModules operator&(RecomputeModules a, RecomputeModules b) { return {static_cast<uint16_t>(a.bits & b.bits)}; }
  friend RecomputeModules operator|(RecomputeModules a, RecomputeModules b) { return {static_cast<uint16_t>(a.bits | b.bits)}; }
  auto operator<=>(const RecomputeModules&) const = default;
};

// Modules of an op, by what a template writes ("attention", "swiglu") in a block that is part of `block`. stream: its result
// is as large as the residual stream.
RecomputeModules modules_of(std::string_view op, RecomputeModules block, bool stream);

}  // namespace shardscape
