// The weight matrices that LoRA adapts (Hu et al., arXiv 2106.09685), named by the module of a checkpoint
// without its ending "_proj": target_modules of PEFT. Up-projections of compressed queries count as q.
// Experts, routers, embedding and head have no adapters.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string_view>

#include "model/weight_format.h"

namespace shardscape {

enum class LoraModule : uint8_t { Q, K, V, O, Gate, Up, Down };
inline constexpr int kLoraModuleCount = 7;
std::string_view lora_module_name(LoraModule module);   // "gate"
std::string_view lora_module_label(LoraModule module);  // "Gate projection"
std::optional<LoraModule> lora_module_from_name(std::string_view name);
// The module of a matrix with this role; nullopt: LoRA does not adapt the matrix.
std::optional<LoraModule> lora_module_of(WeightRole role);

struct LoraModules {
  uint8_t bits = 0;
  bool has(LoraModule module) const { return (bits >> static_cast<int>(module) & 1) != 0; }
  void add(LoraModule module) { bits = static_cast<uint8_t>(bits | 1 << static_cast<int>(module)); }
  auto operator<=>(const LoraModules&) const = default;
};
// The projections of attention: q, k, v and o.
inline constexpr LoraModules kAttentionLora{0b1111};

}  // namespace shardscape
