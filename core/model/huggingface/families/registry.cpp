#include "model/huggingface/families/registry.h"

#include <algorithm>

#include "model/huggingface/families/readers.h"

namespace shardscape::hf {
namespace {

constexpr FamilyRow kFamilyRows[] = {
    {"bailing_moe_linear", "BailingMoeLinearForCausalLM", bailing_moe_linear},
    {"bailing_moe_v2", "BailingMoeV2ForCausalLM", bailing_moe_v2},
    {"cohere2", "Cohere2ForCausalLM", cohere2},
    {"deepseek", "DeepseekForCausalLM", deepseek},
    {"deepseek_v2", "DeepseekV2ForCausalLM", deepseek},
    {"deepseek_v3", "DeepseekV3ForCausalLM", deepseek},
    {"deepseek_v32", "DeepseekV32ForCausalLM", deepseek},
    {"deepseek_ref", "", deepseek_v4},
    {"deepseek_v4", "DeepseekV4ForCausalLM", deepseek_v4},
    {"ernie4_5_moe", "Ernie4_5_MoeForCausalLM", ernie4_5_moe},
    {"gemma", "GemmaForCausalLM", gemma},
    {"gemma2", "Gemma2ForCausalLM", gemma2},
    {"gemma3_text", "Gemma3ForCausalLM", gemma3},
    {"gemma4_text", "Gemma4ForCausalLM", gemma4},
    {"glm4_moe", "Glm4MoeForCausalLM", glm4_moe},
    {"glm_moe_dsa", "GlmMoeDsaForCausalLM", deepseek},
    {"gpt2", "GPT2LMHeadModel", gpt2},
    {"gpt_oss", "GptOssForCausalLM", gpt_oss},
    {"granitemoehybrid", "GraniteMoeHybridForCausalLM", granitemoehybrid},
    {"jamba", "JambaForCausalLM", jamba},
    {"kimi_k2", "", deepseek},
    {"kimi_k3", "KimiK3ForConditionalGeneration", kimi_k3},
    {"kimi_linear", "KimiLinearForCausalLM", kimi_linear},
    {"llama", "LlamaForCausalLM", llama},
    {"llama4_text", "Llama4ForCausalLM", llama4},
    {"longcat_flash", "LongcatFlashForCausalLM", longcat_flash},
    {"mamba", "MambaForCausalLM", mamba},
    {"mamba2", "Mamba2ForCausalLM", mamba2},
    {kUntypedMamba, "", mamba_ssm},
    {"mimo", "MiMoForCausalLM", mimo},
    {"mimo_v2_flash", "MiMoV2FlashForCausalLM", mimo_v2_flash},
    {"minimax_m2", "MiniMaxM2ForCausalLM", minimax_m2},
    {"minimax_m3", "MiniMaxM3ForCausalLM", minimax_m3},
    {"minimax_m3_text", "MiniMaxM3SparseForCausalLM", minimax_m3},
    {"minimax_text_01", "MiniMaxText01ForCausalLM", minimax_text},
    {"mistral", "MistralForCausalLM", mistral},
    {"mixtral", "MixtralForCausalLM", mixtral},
    {"mpt", "MPTForCausalLM", mpt},
    {"nemotron-nas", "DeciLMForCausalLM", nemotron_nas},
    {"nemotron_h", "NemotronHForCausalLM", nemotron_h},
    {"olmo2", "Olmo2ForCausalLM", olmo2},
    {"olmo3", "Olmo3ForCausalLM", olmo3},
    {"olmoe", "OlmoeForCausalLM", nullptr, "norms of queries and keys over all heads"},
    {"qwen2", "Qwen2ForCausalLM", qwen2},
    {"qwen2_moe", "Qwen2MoeForCausalLM", qwen2_moe},
    {"qwen3", "Qwen3ForCausalLM", qwen3},
    {"qwen3_5_moe_text", "Qwen3_5MoeForCausalLM", qwen3_5_moe},
    {"qwen3_5_text", "Qwen3_5ForCausalLM", qwen3_5},
    {"qwen3_moe", "Qwen3MoeForCausalLM", qwen3_moe},
    {"qwen3_next", "Qwen3NextForCausalLM", qwen3_next},
    {"qwen3_vl_moe_text", "", qwen3_moe},
    {"qwen3_vl_text", "", qwen3},
    {"step3p5", "Step3p5ForCausalLM", step3p5}};

}  // namespace

std::span<const FamilyRow> families() { return kFamilyRows; }

const FamilyRow* family_of_type(const std::string& type) {
  const auto it = std::find_if(families().begin(), families().end(),
                               [&](const FamilyRow& row) { return row.type == type; });
  return it == families().end() ? nullptr : &*it;
}

const FamilyRow* family_of_class(const std::string& model_class) {
  const auto it = std::find_if(families().begin(), families().end(), [&](const FamilyRow& row) {
    return !model_class.empty() && row.model_class == model_class;
  });
  return it == families().end() ? nullptr : &*it;
}

}  // namespace shardscape::hf
