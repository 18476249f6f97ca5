#include "validation/inferencex_recipes.h"

#include <algorithm>

namespace shardscape {
namespace {

using R = InferencexRecipe;
// The first that fits.
constexpr InferencexRecipe kRecipes[] = {
    {"deepseek-v3", "sglang", "fp4", "b", true, 16384, 256, 0.85, R::kByUsers, 2, 2},
    {"deepseek-v3", "sglang", "", "b", true, 16384, 512, 0.82, R::kByUsers, 2, 2, true},
    {"deepseek-v3", "sglang", "", "b", true, 32768, 128, 0.82, R::kByUsers, 0, 0},
    {"deepseek-v3", "sglang", "", "h", false, 32768, 512, 0.82, 1, 2, 2},
    {"deepseek-v3", "trtllm", "", "h", true, R::kPromptAndUsers, 2048, 0.75, 1, 3, 1},
    {"deepseek-v3", "trtllm", "", "", true, R::kPromptAndUsers, 2048, 0.8, 1, 3, 1},
    {"glm-5", "sglang", "", "b", true, 32768, R::kUsers, 0.85, 1, 0, 0},
    {"glm-5", "sglang", "", "h", false, 8192, 2048, 0.85, 1, 0, 0},
    {"gpt-oss-120b", "trtllm", "", "b", true, 20000, 512, 0.85, 1, 0, 0},
    {"gpt-oss-120b", "trtllm", "", "h", false, 20000, R::kUsers, 0.85, 1, 0, 0},
    {"gpt-oss-120b", "vllm", "", "b", true, 8192, 512, 0.9, 1, 0, 0},
    {"gpt-oss-120b", "vllm", "", "h", false, 8192, R::kUsers, 0.9, 1, 0, 0},
    {"kimi-k2.5", "vllm", "fp4", "b200", true, R::kTwoPrompts, R::kUsers, 0.9, 1, 0, 0},
    {"kimi-k2.5", "vllm", "fp4", "", true, 8192, R::kUsers, 0.9, 1, 0, 0},
    {"kimi-k2.5", "vllm", "int4", "", false, 8192, R::kUsers, 0.95, 1, 0, 0},
    {"llama3-70b", "trtllm", "", "", true, 16384, 2048, 0.9, 1, 0, 0},
    {"llama3-70b", "vllm", "", "b", true, 8192, 512, 0.9, 1, 0, 0},
    {"llama3-70b", "vllm", "", "h", true, 8192, R::kUsers, 0.9, 1, 0, 0},
    {"minimax-m2.5", "vllm", "", "b", true, R::kTwoPrompts, 1024, 0.9, 1, 0, 0},
    {"minimax-m2.5", "vllm", "", "h200", true, 32768, 1024, 0.95, 1, 0, 0},
    {"qwen3.5-397b-a17b", "sglang", "bf16", "", false, 32768, 128, 0.82, R::kByUsers, 0, 0},
    {"qwen3.5-397b-a17b", "sglang", "fp4", "b300", true, 32768, 128, 0.8, R::kByUsers, 0, 0},
    {"qwen3.5-397b-a17b", "sglang", "fp4", "b200", true, 32768, 128, 0.85, R::kByUsers, 0, 0},
    {"qwen3.5-397b-a17b", "sglang", "", "b300", true, 16384, R::kUsers, 0.8, 10, 0, 0},
    {"qwen3.5-397b-a17b", "sglang", "", "b200", true, 32768, 128, 0.82, R::kByUsers, 0, 0},
    {"qwen3.5-397b-a17b", "sglang", "", "", true, 16384, 128, 0.8, 1, 0, 0},
};

}  // namespace

int64_t prompt_and_users(int64_t users, int64_t input) {
  constexpr int64_t kLeast = 8192, kUnit = 64;
  return std::max(kLeast, (users + input + kUnit + kUnit - 1) / kUnit * kUnit);
}

int64_t InferencexRecipe::step_tokens(int64_t users, int64_t input) const {
  if (tokens == kPromptAndUsers) return prompt_and_users(users, input);
  return tokens == kTwoPrompts ? 2 * input : tokens;
}

int64_t InferencexRecipe::receive_interval(int64_t users) const {
  constexpr int64_t kMany = 16, kOften = 10, kSeldom = 30;
  if (receive != kByUsers) return receive;
  return users >= kMany ? kSeldom : kOften;
}

const InferencexRecipe* inferencex_recipe(const std::string& preset, const std::string& engine,
                                          const std::string& precision, const std::string& gpu, bool drafts) {
  for (const InferencexRecipe& recipe : kRecipes)
    if (preset == recipe.preset && engine == recipe.engine && precision.starts_with(recipe.precision) &&
        gpu.starts_with(recipe.gpu) && (drafts || !recipe.with_drafts))
      return &recipe;
  return nullptr;
}

}  // namespace shardscape
