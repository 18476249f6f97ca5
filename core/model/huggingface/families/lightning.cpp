// Models with lightning attention: MiniMax-Text-01 and MiniMax-M1, and Ring-linear.
#include <utility>

#include "model/huggingface/families/readers.h"
#include "model/layer_pattern.h"

namespace shardscape::hf {
namespace {

constexpr const char* kDefault = "the default of this family";

// As many key heads as value heads.
void lightning_sizes(Family& f, int64_t head_dim, int64_t chunk) {
  ModelSpec& m = f.model;
  m.linear_value_heads = m.heads;
  m.linear_key_dim = m.linear_value_dim = head_dim;
  m.linear_chunk = chunk;
  f.in.assume("linear_chunk", std::to_string(chunk),
              "tokens per chunk of the kernels that serve this family");
}

// "attn_type_list": 0 for lightning attention, 1 for softmax attention.
void minimax_layers(Family& f) {
  constexpr const char* kKey = "attn_type_list";
  const json* types = f.in.value(kKey);
  std::vector<std::string> layers;
  if (types && types->is_array())
    for (const json& type : *types)
      if (type == 0 || type == 1) layers.emplace_back(type == 0 ? "linear" : "full");
  if (static_cast<int64_t>(layers.size()) != f.model.layers)
    return f.in.problem(ProblemCode::HfUnsupportedVariant, kKey,
                        "the value does not name the attention of every layer",
                        std::to_string(f.model.layers) + " entries, each 0 (lightning) or 1 (softmax)");
  f.in.recognise(kKey, "kinds of layers");
  f.model.layer_pattern = layer_pattern_text(layers);
}

// Groups of layers with softmax attention last; so have the layers behind the last whole group.
void ring_layers(Family& f) {
  const int64_t group = f.in.number("layer_group_size", "layers of a group, softmax attention last", 8,
                                    kDefault);
  count(f, &ModelSpec::dense_layers, "first_k_dense_replace", "every layer has experts");
  const int64_t dense = std::exchange(f.model.dense_layers, 0);  // the pattern places them
  if (dense >= group || dense > f.model.layers / group * group)
    return f.in.problem(ProblemCode::HfUnsupportedVariant, "first_k_dense_replace",
                        "dense layers with softmax attention are not supported in this family",
                        "fewer than \"layer_group_size\"");
  std::vector<std::string> layers;
  for (int64_t i = 0; i < f.model.layers; ++i) {
    const bool full = (i + 1) % group == 0 || i >= f.model.layers / group * group;
    layers.emplace_back(full ? "full" : i < dense ? "linear_dense" : "linear");
  }
  f.model.layer_pattern = layer_pattern_text(layers);
}

}  // namespace

void minimax_text(Family& f) {
  f.model.architecture = "minimax-text";
  llama_sizes(f, {}, false, &ModelSpec::expert_ffn);
  silu(f);
  rotated_part(f, 1);
  routed_experts(f, "num_local_experts", "num_experts", 32, 2);
  lightning_sizes(f, f.model.head_dim, 256);
  f.model.linear_key_heads = f.model.heads;
  minimax_layers(f);
}

void bailing_moe_linear(Family& f) {
  f.model.architecture = "ring-linear";
  llama_sizes(f, {}, false);
  silu(f);
  rotated_part(f, 1);
  for (const char* key : {"use_bias", "use_qkv_bias", "attention_bias"}) f.in.only(key, false, kNoBias);
  f.in.only("use_qk_norm", true, "queries and keys without norms are not supported in this family");
  f.in.only("moe_router_enable_expert_bias", true,
            "a router without a balance bias is not supported in this family");
  routed_experts(f, "num_experts", "num_local_experts", 256, 8);
  f.in.size(&ModelSpec::expert_ffn, "moe_intermediate_size");
  count(f, &ModelSpec::shared_experts, "num_shared_experts", "no shared experts");
  for (const auto& [field, key] :
       {std::pair{&ModelSpec::expert_groups, "n_group"}, {&ModelSpec::groups_per_token, "topk_group"}})
    if (!f.in.absent(key) && !f.in.null(key)) f.in.size(field, key);
  if (f.in.text_or("score_function", "sigmoid") != "sigmoid")
    f.in.problem(ProblemCode::HfUnsupportedVariant, "score_function",
                 "scores other than sigmoid are not supported in this family", "sigmoid");
  else if (!f.in.absent("score_function"))
    f.in.recognise("score_function", "scoring of the router");
  lightning_sizes(f, f.model.hidden / f.model.heads, 64);
  f.in.size(&ModelSpec::linear_norm_groups, "group_norm_size", 1, kDefault);
  ring_layers(f);
}

}  // namespace shardscape::hf
