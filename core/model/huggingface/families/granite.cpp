// Granite 4 H: Mamba-2 or attention, then experts and a shared expert in every layer.
#include "model/huggingface/families/readers.h"
#include "model/layer_pattern.h"

namespace shardscape::hf {
namespace {

std::vector<std::string> kinds(Family& f) {
  std::vector<std::string> out = texts_of(f.in.value("layer_types"));
  std::erase_if(out, [](const std::string& type) { return type != "mamba" && type != "attention"; });
  if (static_cast<int64_t>(out.size()) == f.model.layers) {
    f.in.recognise("layer_types", "kinds of layers");
    return out;
  }
  f.in.problem(ProblemCode::HfUnsupportedVariant, "layer_types",
               "the value does not name the mixer of every layer",
               std::to_string(f.model.layers) + " entries, each mamba or attention");
  return {"mamba"};
}

void mixer(Family& f) {
  f.in.size(&ModelSpec::ssm_heads, "mamba_n_heads", 128, kFamilyDefault);
  const json* head = f.in.value("mamba_d_head");
  const int64_t channels = f.in.number("mamba_expand", "channels / hidden size", 2, kFamilyDefault) *
                           f.model.hidden;
  if (head && *head == json("auto")) {
    f.model.ssm_head_dim = channels / f.model.ssm_heads;
    f.in.recognise("mamba_d_head", "channels of a head (P): expand x hidden size / heads");
  } else {
    f.in.size(&ModelSpec::ssm_head_dim, "mamba_d_head", channels / f.model.ssm_heads,
              "expand x hidden size / heads");
  }
  f.in.size(&ModelSpec::ssm_state, "mamba_d_state", 256, kFamilyDefault);
  f.in.size(&ModelSpec::ssm_conv, "mamba_d_conv", 4, kFamilyDefault);
  f.in.size(&ModelSpec::ssm_groups, "mamba_n_groups", 1, kFamilyDefault);
  f.in.size(&ModelSpec::ssm_chunk, "mamba_chunk_size", 256, kFamilyDefault);
  f.in.only("mamba_proj_bias", false, kNoBias);
  f.in.only("mamba_conv_bias", true, "a convolution without a bias is not supported in this family");
}

}  // namespace

void granitemoehybrid(Family& f) {
  f.model.architecture = "granite_hybrid";
  llama_sizes(f, {}, true, &ModelSpec::expert_ffn);
  silu(f);
  f.in.only("attention_bias", false, kNoBias);
  f.model.layer_pattern = layer_pattern_text(kinds(f));
  mixer(f);
  routed_experts(f, "num_local_experts", "num_experts", 8, 2);
  f.in.size(&ModelSpec::shared_ffn, "shared_intermediate_size", 1024, kFamilyDefault);
  const std::string positions = f.in.text_or("position_embedding_type", "nope");
  if (positions != "nope")
    f.in.problem(ProblemCode::HfUnsupportedVariant, "position_embedding_type",
                 "positions by \"" + positions + "\" are not supported in this family", "nope");
  else if (!f.in.absent("position_embedding_type"))
    f.in.recognise("position_embedding_type", "attention has no positions");
  for (const char* key : {"embedding_multiplier", "residual_multiplier", "logits_scaling"})
    if (!f.in.absent(key)) f.in.recognise(key, "a factor");
  if (!f.in.absent("attention_multiplier")) f.in.ignore("attention_multiplier", "a constant");
}

}  // namespace shardscape::hf
