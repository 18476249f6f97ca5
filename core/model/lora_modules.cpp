#include "model/lora_modules.h"

#include <array>

namespace shardscape {
namespace {

struct ModuleInfo {
  std::string_view name, label;
};
constexpr std::array<ModuleInfo, kLoraModuleCount> kModules{{{"q", "Q projection"},
                                                             {"k", "K projection"},
                                                             {"v", "V projection"},
                                                             {"o", "Output projection"},
                                                             {"gate", "Gate projection"},
                                                             {"up", "Up projection"},
                                                             {"down", "Down projection"}}};

}  // namespace

std::string_view lora_module_name(LoraModule module) { return kModules[static_cast<size_t>(module)].name; }
std::string_view lora_module_label(LoraModule module) { return kModules[static_cast<size_t>(module)].label; }

std::optional<LoraModule> lora_module_from_name(std::string_view name) {
  for (size_t i = 0; i < kModules.size(); ++i)
    if (kModules[i].name == name) return static_cast<LoraModule>(i);
  return std::nullopt;
}

std::optional<LoraModule> lora_module_of(WeightRole role) {
  if (role == WeightRole::QB) return LoraModule::Q;
  for (const auto& [of, module] :
       {std::pair{WeightRole::Q, LoraModule::Q}, std::pair{WeightRole::K, LoraModule::K},
        std::pair{WeightRole::V, LoraModule::V}, std::pair{WeightRole::O, LoraModule::O},
        std::pair{WeightRole::Gate, LoraModule::Gate}, std::pair{WeightRole::Up, LoraModule::Up},
        std::pair{WeightRole::Down, LoraModule::Down}})
    if (of == role) return module;
  return std::nullopt;
}

}  // namespace shardscape
