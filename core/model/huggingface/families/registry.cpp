#include "model/huggingface/families/registry.h"

#include <algorithm>

#include "model/huggingface/families/readers.h"

namespace shardscape::hf {

const std::vector<FamilyRow>& families() {
  static const std::vector<FamilyRow> rows{{"deepseek", deepseek},     {"deepseek_v2", deepseek},
                                           {"deepseek_v3", deepseek},  {"gemma", gemma},
                                           {"gemma2", gemma2},         {"gpt2", gpt2},
                                           {"gpt_oss", gpt_oss},       {"jamba", jamba},
                                           {"kimi_k2", deepseek},      {"llama", llama},
                                           {"mamba", mamba},           {"mamba2", mamba2},
                                           {kUntypedMamba, mamba_ssm}, {"mistral", mistral},
                                           {"mixtral", mixtral},       {"mpt", mpt},
                                           {"qwen2", qwen2},           {"qwen2_moe", qwen2_moe},
                                           {"qwen3", qwen3},           {"qwen3_moe", qwen3_moe}};
  return rows;
}

const FamilyRow* family_of_type(const std::string& type) {
  const auto it = std::find_if(families().begin(), families().end(),
                               [&](const FamilyRow& row) { return row.type == type; });
  return it == families().end() ? nullptr : &*it;
}

}  // namespace shardscape::hf
