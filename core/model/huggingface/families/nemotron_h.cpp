// Nemotron-H and Nemotron 3: layers of one mixer each in the order of a list.
#include <algorithm>

#include "model/huggingface/families/readers.h"
#include "model/layer_pattern.h"

namespace shardscape::hf {
namespace {

struct LayerKind {
  char letter;
  const char* name;  // in lists and in the architectures
};
constexpr LayerKind kKinds[] = {{'M', "mamba"}, {'*', "attention"}, {'-', "mlp"}, {'E', "moe"}};

using Kinds = std::vector<std::string>;

bool has(const Kinds& kinds, const char* kind) {
  return std::find(kinds.begin(), kinds.end(), kind) != kinds.end();
}

// The kinds that one of the two keys gives, as a list of names or as a text of letters; nothing without keys.
Kinds listed(Family& f, const char* list_key, const char* letters_key, const char* becomes) {
  const json* list = f.in.value(list_key);
  const bool names = list && list->is_array();
  const char* const key = names ? list_key : letters_key;
  Kinds out;
  bool known = true;
  const auto add = [&](const auto& fits) {
    const auto kind = std::find_if(std::begin(kKinds), std::end(kKinds), fits);
    known = known && kind != std::end(kKinds);
    if (kind != std::end(kKinds)) out.push_back(kind->name);
  };
  if (names)
    for (const json& name : *list) add([&](const LayerKind& kind) { return name == kind.name; });
  else
    for (const char letter : f.in.text_or(letters_key, ""))
      add([&](const LayerKind& kind) { return kind.letter == letter; });
  if (!known)
    f.in.problem(ProblemCode::HfUnsupportedVariant, key, "the value names an unsupported kind of layer",
                 names ? "mamba, attention, mlp or moe for every layer" : "M, *, - or E for every layer");
  if (f.in.value(key)) f.in.recognise(key, becomes);
  if (names && !f.in.absent(letters_key))
    f.in.ignore(letters_key, std::string("\"") + list_key + "\" has this information");
  return out;
}

void layers(Family& f, const Kinds& kinds) {
  if (kinds.empty())
    return f.in.problem(ProblemCode::HfUnsupportedVariant, "hybrid_override_pattern",
                        "the kinds of the layers are missing",
                        "M, *, - or E for every layer, or a list in \"layers_block_type\"");
  const auto count = static_cast<int64_t>(kinds.size());
  if (f.in.size(&ModelSpec::layers, "num_hidden_layers", count, "the length of the list of layers") != count)
    f.in.problem(ProblemCode::HfSizesContradict, "num_hidden_layers",
                 "the list of layers has " + std::to_string(count) + " entries", std::to_string(count));
  f.model.layer_pattern = layer_pattern_text(kinds);
}

void sizes(Family& f) {
  f.in.size(&ModelSpec::hidden, "hidden_size");
  f.in.size(&ModelSpec::vocab, "vocab_size");
  const int64_t heads = f.in.size(&ModelSpec::heads, "num_attention_heads");
  f.in.size(&ModelSpec::kv_heads, "num_key_value_heads", heads, "as many as attention heads");
  f.in.size(&ModelSpec::head_dim, f.in.absent("head_dim") ? "attention_head_dim" : "head_dim", 128,
            kFamilyDefault);
  f.in.size(&ModelSpec::ssm_heads, "mamba_num_heads", 128, kFamilyDefault);
  f.in.size(&ModelSpec::ssm_head_dim, "mamba_head_dim", 64, kFamilyDefault);
  f.in.size(&ModelSpec::ssm_groups, "n_groups", 8, kFamilyDefault);
  f.in.size(&ModelSpec::ssm_state, "ssm_state_size", 128, kFamilyDefault);
  f.in.size(&ModelSpec::ssm_conv, "conv_kernel", 4, kFamilyDefault);
  f.in.size(&ModelSpec::ssm_chunk, "chunk_size", 128, kFamilyDefault);
  if (!f.in.absent("expand")) f.in.ignore("expand", "follows from the heads and the head size of the mixer");
  f.in.activation({"mlp_hidden_act"}, {"relu2"}, "relu2");
  f.in.activation({"mamba_hidden_act"}, {"silu", "swish"}, "silu");
  for (const char* key : {"use_bias", "attention_bias", "mlp_bias", "mamba_proj_bias"})
    f.in.only(key, false, kNoBias);
  f.in.only("use_conv_bias", true, "a convolution without a bias is not supported in this family");
  tied(f, false);
  if (!f.in.absent("max_position_embeddings"))
    f.context = f.in.number("max_position_embeddings", "longest sequence", 0, "not stated");
}

// The experts; false: they compute in the hidden size.
bool experts_are_latent(Family& f) {
  f.in.size(&ModelSpec::experts, "n_routed_experts");
  f.in.size(&ModelSpec::experts_per_token, "num_experts_per_tok");
  f.in.size(&ModelSpec::expert_ffn, "moe_intermediate_size");
  f.in.size(&ModelSpec::shared_experts, "n_shared_experts", 1, kFamilyDefault);
  f.in.size(&ModelSpec::shared_ffn, "moe_shared_expert_intermediate_size");
  f.in.size(&ModelSpec::expert_groups, "n_group", 1, kFamilyDefault);
  f.in.size(&ModelSpec::groups_per_token, "topk_group", 1, kFamilyDefault);
  count(f, &ModelSpec::latent_ffn, "moe_latent_size", "experts compute in the hidden size");
  return f.model.latent_ffn > 0;
}

void multi_token(Family& f, bool experts) {
  count(f, &ModelSpec::mtp_layers, "num_nextn_predict_layers", "no module of multi-token prediction");
  const char *const list = "mtp_layers_block_type", *const letters = "mtp_hybrid_override_pattern";
  if (f.model.mtp_layers == 0) return;
  const Kinds kinds = listed(f, list, letters, "layers of a module of multi-token prediction");
  if (!experts || (!kinds.empty() && kinds != Kinds{"attention", "moe"}))
    f.in.problem(ProblemCode::HfUnsupportedVariant, kinds.empty() ? "num_nextn_predict_layers" : list,
                 "this module of multi-token prediction has no blocks",
                 "attention and moe, in a model with experts");
}

}  // namespace

void nemotron_h(Family& f) {
  const Kinds kinds = listed(f, "layers_block_type", "hybrid_override_pattern", "kinds of layers");
  layers(f, kinds);
  sizes(f);
  const bool experts = has(kinds, "moe"), mlps = has(kinds, "mlp");
  if (experts && mlps)
    f.in.problem(ProblemCode::HfUnsupportedVariant, "hybrid_override_pattern",
                 "layers with experts next to layers with an MLP are not supported", "either of them");
  if (experts) {
    const bool latent = experts_are_latent(f);
    f.model.architecture = latent ? "nemotron3; latent" : "nemotron3";
    if (!f.in.absent("intermediate_size")) f.in.ignore("intermediate_size", "no layer is an MLP");
  } else {
    f.model.architecture = "nemotron_h";
    f.in.size(&ModelSpec::ffn, "intermediate_size");
  }
  multi_token(f, experts);
}

}  // namespace shardscape::hf
