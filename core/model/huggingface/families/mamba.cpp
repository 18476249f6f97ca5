// State-space models: Mamba, Mamba-2, Jamba.
#include "model/huggingface/families/readers.h"

namespace shardscape::hf {
namespace {

// The sizes of all state-space mixers. Projections have no bias; the convolution has one.
void mixer_sizes(Family& f, int64_t state) {
  f.in.size(&ModelSpec::layers, "num_hidden_layers");
  f.in.size(&ModelSpec::hidden, "hidden_size");
  f.in.size(&ModelSpec::vocab, "vocab_size");
  f.in.size(&ModelSpec::ssm_state, "state_size", state, "the default of this family");
  f.in.size(&ModelSpec::ssm_conv, "conv_kernel", 4, "the default of this family");
  f.in.size(&ModelSpec::ssm_expand, "expand", 2, "the default of this family");
  f.in.activation({"hidden_act"}, {"silu", "swish"}, "silu");
  f.in.only("use_bias", false, kNoBias);
  f.in.only("use_conv_bias", true, "a convolution without a bias is not supported in this family");
  for (const char* same : {"d_model", "n_layer"})
    if (!f.in.absent(same)) f.in.ignore(same, "follows from other keys of this family");
}

int64_t step_rank(const Family& f) { return (f.model.hidden + 15) / 16; }

void step_rank_of(Family& f, const char* key) {
  const json* rank = f.in.value(key);
  if (!rank || *rank != json("auto")) {
    f.in.size(&ModelSpec::ssm_dt_rank, key, step_rank(f), "hidden size / 16, rounded up");
    return;
  }
  f.model.ssm_dt_rank = step_rank(f);
  f.in.recognise(key, "rank of the step size (Rd): hidden size / 16, rounded up");
}

// The heads must cover all channels.
void mamba2_heads(Family& f, const char* heads_key) {
  f.in.size(&ModelSpec::ssm_head_dim, "head_dim", 64, "the default of this family");
  const int64_t channels = f.model.ssm_expand * f.model.hidden;
  const int64_t heads = f.in.number(heads_key, "heads (e D / P)", channels / f.model.ssm_head_dim,
                                    "channels / head size");
  if (heads * f.model.ssm_head_dim != channels)
    f.in.problem(ProblemCode::HfSizesContradict, heads_key,
                 std::to_string(heads) + " heads of " + std::to_string(f.model.ssm_head_dim) +
                     " channels are not expand x hidden size",
                 "heads x head size = " + std::to_string(channels));
}

}  // namespace

// The architecture's pattern fixes the periods: attention in every eighth layer, experts in every second
// layer.
void jamba(Family& f) {
  f.model.architecture = "jamba";
  llama_sizes(f, {}, false);
  silu(f);
  f.in.size(&ModelSpec::experts, "num_experts", 16, "the default of this family");
  f.in.size(&ModelSpec::experts_per_token, "num_experts_per_tok", 2, "the default of this family");
  f.model.expert_ffn = f.model.ffn;
  f.in.size(&ModelSpec::ssm_state, "mamba_d_state", 16, "the default of this family");
  f.in.size(&ModelSpec::ssm_conv, "mamba_d_conv", 4, "the default of this family");
  f.in.size(&ModelSpec::ssm_expand, "mamba_expand", 2, "the default of this family");
  step_rank_of(f, "mamba_dt_rank");
  for (const auto& [key, wanted] : {std::pair{"attn_layer_period", 8},
                                    {"attn_layer_offset", 4},
                                    {"expert_layer_period", 2},
                                    {"expert_layer_offset", 1}}) {
    if (f.in.number(key, "position of the layer", wanted, "the default of this family") != wanted)
      f.in.problem(ProblemCode::HfUnsupportedVariant, key, "layers in a different order are not supported",
                   std::to_string(wanted));
  }
  f.in.only("mamba_proj_bias", false, kNoBias);
  f.in.only("mamba_conv_bias", true, "a convolution without a bias is not supported in this family");
}

void mamba(Family& f) {
  f.model.architecture = "mamba";
  mixer_sizes(f, 16);
  step_rank_of(f, "time_step_rank");
  for (const char* inner : {"intermediate_size", "d_inner"}) {
    if (f.in.absent(inner) || f.in.null(inner)) continue;
    if (f.in.number(inner, "channels (e D)") != f.model.ssm_expand * f.model.hidden)
      f.in.problem(ProblemCode::HfSizesContradict, inner,
                   std::string("\"") + inner + "\" is not expand x hidden size",
                   std::to_string(f.model.ssm_expand * f.model.hidden));
  }
  tied(f, true);
}

void mamba2(Family& f) {
  f.model.architecture = "mamba2";
  mixer_sizes(f, 128);
  mamba2_heads(f, "num_heads");
  f.in.size(&ModelSpec::ssm_groups, "n_groups", 8, "the default of this family");
  f.in.size(&ModelSpec::ssm_chunk, "chunk_size", 256, "the default of this family");
  f.in.only("rms_norm", true, "a gate without a norm is not supported in this family");
  f.in.only("norm_before_gate", false, "a norm before the gate is not supported");
  if (!f.in.absent("time_step_rank")) f.in.ignore("time_step_rank", "Mamba-2 has one step size per head");
  tied(f, false);
}

// Files of the Mamba authors' own code: no model type, and the sizes of the mixer in "ssm_cfg".
void mamba_ssm(Family& f) {
  const std::string layer = f.in.text_or("ssm_cfg.layer", "Mamba1");
  const bool second = layer == "Mamba2";
  f.model.architecture = second ? "mamba2" : "mamba";
  if (!second && layer != "Mamba1")
    f.in.problem(ProblemCode::HfUnsupportedVariant, "ssm_cfg.layer",
                 "the mixer \"" + layer + "\" is not supported", "Mamba1 or Mamba2");
  const int64_t hidden = f.in.size(&ModelSpec::hidden, "d_model");
  f.in.size(&ModelSpec::layers, "n_layer");
  const int64_t multiple = f.in.number("pad_vocab_size_multiple", "the vocabulary is padded to a multiple", 8,
                                       "the default of this code");
  const int64_t vocab = f.in.size(&ModelSpec::vocab, "vocab_size");
  f.model.vocab = (vocab + multiple - 1) / multiple * multiple;
  const char* kDefault = "the default of this code";
  f.in.size(&ModelSpec::ssm_state, "ssm_cfg.d_state", second ? 128 : 16, kDefault);
  f.in.size(&ModelSpec::ssm_conv, "ssm_cfg.d_conv", 4, kDefault);
  f.in.size(&ModelSpec::ssm_expand, "ssm_cfg.expand", 2, kDefault);
  if (second) {
    f.in.size(&ModelSpec::ssm_head_dim, "ssm_cfg.headdim", 64, kDefault);
    f.in.size(&ModelSpec::ssm_groups, "ssm_cfg.ngroups", 1, kDefault);
    f.in.size(&ModelSpec::ssm_chunk, "ssm_cfg.chunk_size", 256, kDefault);
  } else {
    f.in.size(&ModelSpec::ssm_dt_rank, "ssm_cfg.dt_rank", (hidden + 15) / 16, "hidden size / 16, rounded up");
  }
  f.in.only("rms_norm", true, "layer norms are not supported in this family");
  const json* attention = f.in.value("attn_layer_idx");
  if (attention && !attention->empty())
    f.in.problem(ProblemCode::HfUnsupportedVariant, "attn_layer_idx",
                 "attention layers are not supported in this family", "an empty list");
  const json* inner = f.in.value("d_intermediate");
  if (inner && *inner != json(0))
    f.in.problem(ProblemCode::HfUnsupportedVariant, "d_intermediate",
                 "an MLP after each mixer is not supported in this family", "0");
  for (const auto& [key, note] : {std::pair{"attn_layer_idx", "no attention"},
                                  {"d_intermediate", "no MLP"},
                                  {"attn_cfg", "no attention"}})
    if (!f.in.absent(key)) f.in.recognise(key, note);
  f.model.tied_embeddings = f.in.flag("tie_embeddings", "tied embeddings", true, kDefault);
}

}  // namespace shardscape::hf
