// Ling 2.0 (BailingMoeV2): dense layers, then experts with sigmoid scores and a shared expert.
#include "model/huggingface/families/readers.h"

namespace shardscape::hf {

void bailing_moe_v2(Family& f) {
  llama_sizes(f, {}, false);
  silu(f);
  const bool bias = f.in.flag("use_qkv_bias", "biases of queries, keys and values", false,
                              "the default of this family");
  f.in.only("use_bias", false, kNoBias);
  f.model.architecture = bias ? "glm4-moe; qkv_bias, qk_norm" : "glm4-moe; qk_norm";
  f.in.only("use_qk_norm", true,
            "attention without norms of queries and keys is not supported in this family");
  routed_experts(f, "num_experts", "n_routed_experts", 256, 8);
  f.in.size(&ModelSpec::expert_ffn, "moe_intermediate_size");
  for (const auto& [field, key] :
       {std::pair{&ModelSpec::expert_groups, "n_group"}, {&ModelSpec::groups_per_token, "topk_group"}})
    if (!f.in.absent(key) && !f.in.null(key)) f.in.size(field, key);
  count(f, &ModelSpec::shared_experts, "num_shared_experts", "no shared experts");
  if (!f.in.absent("moe_shared_expert_intermediate_size"))
    f.in.size(&ModelSpec::shared_ffn, "moe_shared_expert_intermediate_size");
  count(f, &ModelSpec::dense_layers, "first_k_dense_replace", "every layer has experts");
  count(f, &ModelSpec::mtp_layers, "num_nextn_predict_layers", "no module of multi-token prediction");
  f.in.only("moe_router_enable_expert_bias", true,
            "a router without a balance bias is not supported in this family");
}

}  // namespace shardscape::hf
