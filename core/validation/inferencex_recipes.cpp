#include "validation/inferencex_recipes.h"

namespace shardscape {
namespace {

// The first that fits. SGLang's share counts weights and cache alone, and TensorRT-LLM's share what weights
// and activations leave, so the share of both is vLLM's default.
constexpr InferencexRecipe kRecipes[] = {
    {"deepseek-v3", "sglang", "", "b", true, 16384, false, 0.9, 2, 2},
    {"deepseek-v3", "sglang", "", "h", false, 32768, false, 0.9, 2, 2},
    {"deepseek-v3", "trtllm", "", "", true, 8192, false, 0.9, 3, 1},
    {"glm-5", "sglang", "", "b", true, 32768, false, 0.9},
    {"gpt-oss-120b", "trtllm", "", "b", true, 20000, true, 0.9},
    {"gpt-oss-120b", "trtllm", "", "h", false, 20000, true, 0.9},
    {"gpt-oss-120b", "vllm", "", "b", true, 8192, false, 0.9},
    {"gpt-oss-120b", "vllm", "", "h", false, 8192, true, 0.9},
    {"kimi-k2.5", "vllm", "fp4", "", true, 8192, true, 0.9},
    {"kimi-k2.5", "vllm", "int4", "", false, 8192, true, 0.95},
    {"minimax-m2.5", "vllm", "", "b", true, 0, false, 0.9},
    {"minimax-m2.5", "vllm", "", "h200", true, 32768, false, 0.95},
    {"qwen3.5-397b-a17b", "sglang", "bf16", "", false, 32768, false, 0.9},
    {"qwen3.5-397b-a17b", "sglang", "", "", true, 16384, false, 0.9},
};

}  // namespace

const InferencexRecipe* inferencex_recipe(const std::string& preset, const std::string& engine,
                                          const std::string& precision, const std::string& gpu) {
  for (const InferencexRecipe& recipe : kRecipes)
    if (preset == recipe.preset && engine == recipe.engine && precision.starts_with(recipe.precision) &&
        gpu.starts_with(recipe.gpu))
      return &recipe;
  return nullptr;
}

}  // namespace shardscape
