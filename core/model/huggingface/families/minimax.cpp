// MiniMax-M2: norms of queries and keys over all heads, and experts with sigmoid scores in every layer.
// MiniMax-M3: block-sparse attention and experts behind dense layers.
#include <algorithm>

#include "model/huggingface/families/readers.h"
#include "model/layer_pattern.h"

namespace shardscape::hf {
namespace {

// Keys inside of "sparse_attention_config".
void block_sparse(Family& f) {
  const auto key = [](const char* name) { return std::string("sparse_attention_config.") + name; };
  f.in.only(key("use_sparse_attention").c_str(), true,
            "full attention in all layers is not supported in this family");
  f.in.size(&ModelSpec::index_dim, key("sparse_index_dim").c_str(), 128, kFamilyDefault);
  f.in.size(&ModelSpec::index_top_k, key("sparse_topk_blocks").c_str(), 16, kFamilyDefault);
  f.in.size(&ModelSpec::index_block, key("sparse_block_size").c_str(), 128, kFamilyDefault);
  const std::string heads = key("sparse_num_index_heads");
  if (f.in.number(heads.c_str(), "index heads, one per KV head", f.model.kv_heads, kFamilyDefault) !=
      f.model.kv_heads)
    f.in.problem(ProblemCode::HfUnsupportedVariant, heads,
                 "the indexer selects blocks for every KV head: there are " + f.in.shown(heads) +
                     " index heads for " + std::to_string(f.model.kv_heads) + " KV heads",
                 std::to_string(f.model.kv_heads));
  only_text(f.in, key("sparse_score_type").c_str(), "max", "score of a block");
  for (const auto& [name, wanted] : {std::pair{"sparse_init_block", 0}, {"sparse_local_block", 1}})
    if (const json* found = f.in.value(key(name)); found && *found != json(wanted))
      f.in.problem(ProblemCode::HfUnsupportedVariant, key(name),
                   "only the block of the query itself is always selected", std::to_string(wanted));
    else if (found)
      f.in.recognise(key(name), "the block of the query itself is always selected");
}

// A layer has experts and block-sparse attention, or neither.
void sparse_layers(Family& f) {
  constexpr const char *kSparse = "sparse_attention_config.sparse_attention_freq",
                       *kValues = "sparse_attention_config.sparse_disable_index_value";
  const auto experts = per_layer_numbers(f, "moe_layer_freq", "layers with experts (1) and without (0)");
  const auto sparse = per_layer_numbers(f, kSparse, "layers with block-sparse attention (1)");
  if (experts != sparse)
    f.in.problem(ProblemCode::HfUnsupportedVariant, kSparse,
                 "a layer with experts and full attention, or the reverse, is not supported in this family",
                 "the same list as in \"moe_layer_freq\"");
  if (!f.in.absent(kValues) && per_layer_numbers(f, kValues, "indexers have no values") != sparse)
    f.in.problem(ProblemCode::HfUnsupportedVariant, kValues, "indexers with values are not supported",
                 "1 in every layer with block-sparse attention");
  if (std::is_sorted(experts.begin(), experts.end())) {
    f.model.dense_layers = std::count(experts.begin(), experts.end(), 0);
    return;
  }
  std::vector<std::string> layers;
  layers.reserve(experts.size());
  for (const int64_t routed : experts) layers.emplace_back(routed == 1 ? "sparse" : "dense");
  f.model.layer_pattern = layer_pattern_text(layers);
}

}  // namespace

void minimax_m2(Family& f) {
  f.model.architecture = "minimax-m2";
  llama_sizes(f, {}, false, &ModelSpec::expert_ffn);
  silu(f);
  rotated_part(f, 0.5);
  f.in.only("use_qk_norm", true,
            "attention without norms of queries and keys is not supported in this family");
  if (f.in.text_or("qk_norm_type", "per_layer") != "per_layer")
    f.in.problem(ProblemCode::HfUnsupportedVariant, "qk_norm_type",
                 "norms of single heads are not supported in this family", "per_layer");
  else if (!f.in.absent("qk_norm_type"))
    f.in.recognise("qk_norm_type", "norms over all heads");
  routed_experts(f, "num_local_experts", "num_experts", 256, 8);
  f.in.only("use_routing_bias", true, "a router without a balance bias is not supported in this family");
  count(f, &ModelSpec::shared_ffn, "shared_intermediate_size", "no shared experts");
  if (f.model.shared_ffn > 0)
    f.in.problem(ProblemCode::HfUnsupportedVariant, "shared_intermediate_size",
                 "shared experts are not supported in this family", "0");
  // The released weights have no such modules, although the file counts three.
  for (const char* key : {"use_mtp", "num_mtp_modules", "mtp_transformer_layers"})
    if (!f.in.absent(key)) f.in.ignore(key, "the released weights have no multi-token prediction");
}

void minimax_m3(Family& f) {
  f.model.architecture = "minimax-m3-text";
  llama_sizes(f, {}, false, &ModelSpec::expert_ffn);
  if (!f.in.absent("moe_intermediate_size")) f.in.size(&ModelSpec::expert_ffn, "moe_intermediate_size");
  f.in.size(&ModelSpec::ffn, "dense_intermediate_size");
  f.in.activation({"hidden_act"}, {"swigluoai"}, "swigluoai");
  for (const char* key : {"swiglu_alpha", "swiglu_limit", "routed_scaling_factor"})
    if (!f.in.absent(key)) f.in.ignore(key, "a constant");
  rotated_part(f, 0.5);
  if (!f.in.absent("rotary_dim") && !f.in.absent("partial_rotary_factor"))
    f.in.ignore("partial_rotary_factor", "\"rotary_dim\" has this value");
  f.in.only("use_qk_norm", true,
            "attention without norms of queries and keys is not supported in this family");
  only_text(f.in, "qk_norm_type", "per_head", "norms of single heads");
  f.in.only("attention_output_gate", false, "a gate of the attention is not supported in this family");
  routed_experts(f, "num_local_experts", "num_experts", 128, 4);
  f.in.only("use_routing_bias", true, "a router without a balance bias is not supported in this family");
  only_text(f.in, "scoring_func", "sigmoid", "scoring of the router");
  f.in.size(&ModelSpec::shared_experts, "n_shared_experts", 1, kFamilyDefault);
  count(f, &ModelSpec::shared_ffn, "shared_intermediate_size", "as wide as routed experts");
  if (!f.in.absent("first_k_dense_replace"))
    f.in.ignore("first_k_dense_replace", "\"moe_layer_freq\" has this value");
  block_sparse(f);
  sparse_layers(f);
  // Where the file has both keys, the released weights have as many modules as the first says.
  const bool depths = !f.in.absent("num_nextn_predict_layers");
  count(f, &ModelSpec::mtp_layers, depths ? "num_nextn_predict_layers" : "num_mtp_modules",
        "no module of multi-token prediction");
  if (depths && !f.in.absent("num_mtp_modules"))
    f.in.ignore("num_mtp_modules", "\"num_nextn_predict_layers\" has this value");
}

}  // namespace shardscape::hf
