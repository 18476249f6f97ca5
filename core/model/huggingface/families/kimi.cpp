// Kimi Linear: Kimi Delta Attention in most layers, latent attention without positions in the others. Kimi K3
// adds attention residuals, experts in a latent width and gates of latent attention.
#include <set>

#include "model/huggingface/families/readers.h"
#include "model/layer_pattern.h"

namespace shardscape::hf {
namespace {

// The layers of a list of numbers from 1.
std::set<int64_t> listed(Family& f, const char* key) {
  const json* list = f.in.value(key);
  std::set<int64_t> out;
  for (size_t i = 0; list && list->is_array() && i < list->size(); ++i)
    if ((*list)[i].is_number_integer()) out.insert((*list)[i].get<int64_t>());
  return out;
}

void layers(Family& f) {
  constexpr const char *kFull = "linear_attn_config.full_attn_layers",
                       *kLinear = "linear_attn_config.kda_layers";
  const std::set<int64_t> full = listed(f, kFull), linear = listed(f, kLinear);
  std::vector<std::string> kinds;
  for (int64_t i = 1; i <= f.model.layers; ++i) {
    const bool dense = i <= f.model.dense_layers;
    if (full.count(i) + linear.count(i) != 1 || (dense && full.count(i) > 0)) break;
    kinds.emplace_back(full.count(i) > 0 ? "full" : dense ? "linear_dense" : "linear");
  }
  f.model.dense_layers = 0;  // the pattern places them
  if (static_cast<int64_t>(kinds.size()) < f.model.layers)
    return f.in.problem(ProblemCode::HfUnsupportedVariant, kFull,
                        "layer " + std::to_string(kinds.size() + 1) +
                            " has not exactly one of the two attentions, or is dense with full attention",
                        "every layer from 1 in one of the two lists; dense layers in kda_layers");
  f.in.recognise(kFull, "layers with latent attention");
  f.in.recognise(kLinear, "layers with Kimi Delta Attention");
  f.model.layer_pattern = layer_pattern_text(kinds);
}

void delta_sizes(Family& f) {
  ModelSpec& m = f.model;
  f.in.size(&ModelSpec::linear_key_heads, "linear_attn_config.num_heads", 32, kFamilyDefault);
  f.in.size(&ModelSpec::linear_key_dim, "linear_attn_config.head_dim", 128, kFamilyDefault);
  f.in.size(&ModelSpec::linear_conv, "linear_attn_config.short_conv_kernel_size", 4, kFamilyDefault);
  m.linear_value_heads = m.linear_key_heads;
  m.linear_value_dim = m.gate_rank = m.linear_key_dim;
  m.linear_chunk = 64;
  f.in.assume("linear_chunk", "64", "tokens per chunk of the kernels that serve this family");
}

// What Kimi Linear and Kimi K3 have in common.
void sizes(Family& f) {
  f.in.size(&ModelSpec::layers, "num_hidden_layers");
  f.in.size(&ModelSpec::hidden, "hidden_size");
  f.in.size(&ModelSpec::heads, "num_attention_heads");
  latent_sizes(f);
  f.in.size(&ModelSpec::ffn, "intermediate_size");
  f.in.size(&ModelSpec::vocab, "vocab_size");
  tied(f, false);
  f.in.only("mla_use_nope", true, "latent attention with positions is not supported in this family");
  f.in.size(&ModelSpec::experts, "num_experts");
  f.in.size(&ModelSpec::experts_per_token, "num_experts_per_token");
  f.in.size(&ModelSpec::expert_ffn, "moe_intermediate_size");
  for (const auto& [field, key] : {std::pair{&ModelSpec::expert_groups, "num_expert_group"},
                                   {&ModelSpec::groups_per_token, "topk_group"}})
    if (!f.in.absent(key) && !f.in.null(key)) f.in.size(field, key);
  count(f, &ModelSpec::shared_experts, "num_shared_experts", "no shared experts");
  count(f, &ModelSpec::dense_layers, "first_k_dense_replace", "every layer has experts");
  only_text(f.in, "moe_router_activation_func", "sigmoid", "scoring of the router");
}

}  // namespace

void kimi_linear(Family& f) {
  f.model.architecture = "kimi-linear";
  sizes(f);
  silu(f);
  if (!f.in.absent("model_max_length"))
    f.context = f.in.number("model_max_length", "longest sequence", 0, "not stated");
  delta_sizes(f);
  layers(f);
}

void kimi_k3(Family& f) {
  f.model.architecture = "kimi-k3-text";
  sizes(f);
  f.in.activation({"hidden_act"}, {"situ"}, "situ");
  for (const char* key : {"activation_situ_beta", "activation_situ_linear_beta", "routed_scaling_factor"})
    if (!f.in.absent(key)) f.in.ignore(key, "a constant");
  f.in.only("mla_use_output_gate", true, "latent attention without a gate is not supported in this family");
  f.in.only("moe_renormalize", true,
            "weights of experts that are not normalised are not supported in this family");
  f.in.size(&ModelSpec::latent_ffn, "routed_expert_hidden_size");
  f.in.only("latent_moe_use_norm", true, "latent experts without a norm are not supported in this family");
  f.in.size(&ModelSpec::block_layers, "attn_res_block_size");
  count(f, &ModelSpec::mtp_layers, "num_nextn_predict_layers", "no module of multi-token prediction");
  if (f.model.mtp_layers > 0)
    f.in.problem(ProblemCode::HfUnsupportedVariant, "num_nextn_predict_layers",
                 "multi-token prediction is not supported in this family", "0");
  if (!f.in.absent("max_position_embeddings"))
    f.context = f.in.number("max_position_embeddings", "longest sequence", 0, "not stated");
  delta_sizes(f);
  f.in.only("linear_attn_config.use_full_rank_gate", true,
            "gates of a low rank are not supported in this family");
  constexpr const char* kBound = "linear_attn_config.gate_lower_bound";
  if (f.in.absent(kBound) || f.in.null(kBound))
    f.in.problem(ProblemCode::HfUnsupportedVariant, kBound,
                 "decays without a lower bound are not supported in this family", "a number, such as -5.0");
  else
    f.in.recognise(kBound, "decays are bounded below");
  layers(f);
}

}  // namespace shardscape::hf
