// Qwen2 and Qwen3, dense and with experts; Qwen3-Next and Qwen3.5.
#include <algorithm>

#include "model/huggingface/families/readers.h"
#include "model/layer_pattern.h"

namespace shardscape::hf {
namespace {

// Experts of Qwen: every layer has experts, with a width of their own.
void qwen_experts(Family& f, int64_t experts, int64_t per_token, int64_t width) {
  routed_experts(f, "num_experts", "num_local_experts", experts, per_token);
  f.in.size(&ModelSpec::expert_ffn, "moe_intermediate_size", width, "the default of this family");
  const bool steps = !f.in.absent("decoder_sparse_step") && !f.in.null("decoder_sparse_step");
  if (steps && f.in.number("decoder_sparse_step", "period of layers with experts", 1, "every layer") != 1)
    f.in.problem(ProblemCode::HfUnsupportedVariant, "decoder_sparse_step",
                 "alternating layers with and without experts are not supported in this family", "1");
  const json* dense = f.in.value("mlp_only_layers");
  if (dense && !dense->is_null() && !(dense->is_array() && dense->empty()))
    f.in.problem(ProblemCode::HfUnsupportedVariant, "mlp_only_layers",
                 "layers without experts are not supported in this family", "an empty list");
  else if (dense)
    f.in.recognise("mlp_only_layers", "every layer has experts");
}

}  // namespace

void qwen2(Family& f) {
  f.model.architecture = "qwen2";
  llama_sizes(f, {}, false);
  silu(f);
  switched_window(f);
}

void qwen3(Family& f) {
  f.model.architecture = "qwen3";
  llama_sizes(f, 128, false);
  silu(f);
  f.in.only("attention_bias", false, kNoBias);
  switched_window(f);
}

void qwen2_moe(Family& f) {
  f.model.architecture = "qwen2-moe";
  llama_sizes(f, {}, false, nullptr);
  silu(f);
  f.in.only("qkv_bias", true, "attention without biases is not supported in this family");
  switched_window(f);
  qwen_experts(f, 60, 4, 1408);
  const int64_t shared = f.in.number("shared_expert_intermediate_size", "FFN size of all shared experts (Fs)",
                                     5632, "the default of this family");
  const int64_t width = f.model.expert_ffn;
  f.model.shared_experts = shared / width;
  if (shared % width == 0) return;
  const int64_t below = std::max<int64_t>(1, shared / width) * width;
  f.in.problem(ProblemCode::HfSizesContradict, "shared_expert_intermediate_size",
               "shared experts of width " + std::to_string(shared) +
                   " are not a whole number of experts of width " + std::to_string(width),
               "a multiple of " + std::to_string(width) + ", such as " + std::to_string(below));
}

void qwen3_moe(Family& f) {
  f.model.architecture = "qwen3-moe";
  llama_sizes(f, {}, false, nullptr);
  silu(f);
  f.in.only("attention_bias", false, kNoBias);
  switched_window(f);
  qwen_experts(f, 128, 8, 768);
}

namespace {

// Gated DeltaNet layers and gated full attention (Qwen3-Next and Qwen3.5).
void delta_hybrid(Family& f, bool experts) {
  ModelSpec& m = f.model;
  m.architecture = experts ? "gated_delta_hybrid; part_rope, gate, experts"
                           : "gated_delta_hybrid; part_rope, gate";
  llama_sizes(f, 256, false, experts ? nullptr : &ModelSpec::ffn);
  silu(f);
  f.in.only("attention_bias", false, kNoBias);
  if (!f.in.absent("attn_output_gate"))
    f.in.only("attn_output_gate", true, "full attention without a gate is not supported in this family");
  rotated_part(f, 0.25);
  f.in.size(&ModelSpec::linear_key_heads, "linear_num_key_heads", 16, kFamilyDefault);
  f.in.size(&ModelSpec::linear_value_heads, "linear_num_value_heads", 32, kFamilyDefault);
  f.in.size(&ModelSpec::linear_key_dim, "linear_key_head_dim", 128, kFamilyDefault);
  f.in.size(&ModelSpec::linear_value_dim, "linear_value_head_dim", 128, kFamilyDefault);
  f.in.size(&ModelSpec::linear_conv, "linear_conv_kernel_dim", 4, kFamilyDefault);
  m.linear_chunk = 64;
  f.in.assume("linear_chunk", "64", "tokens per chunk of the kernels that serve this family");
  const int64_t period = f.in.number("full_attention_interval", "period of layers with full attention", 4,
                                     kFamilyDefault);
  std::vector<std::string> layers;
  for (int64_t i = 1; i <= m.layers; ++i)
    layers.emplace_back(period > 0 && i % period == 0 ? "full" : "linear");
  const std::vector<std::string> listed = texts_of(f.in.value("layer_types"));
  if (!listed.empty()) {
    f.in.recognise("layer_types", "kinds of layers");
    layers.clear();
    for (const std::string& name : listed) layers.push_back(name.substr(0, name.find('_')));
  }
  if (static_cast<int64_t>(layers.size()) != m.layers)
    return f.in.problem(ProblemCode::HfUnsupportedVariant, "layer_types",
                        "the value has no entry for each layer",
                        std::to_string(m.layers) + " entries, each linear_attention or full_attention");
  m.layer_pattern = layer_pattern_text(layers);
  if (experts) {
    qwen_experts(f, 512, 10, 512);
    f.in.size(&ModelSpec::shared_ffn, "shared_expert_intermediate_size", 512, kFamilyDefault);
  }
  if (f.in.absent("mtp_num_hidden_layers")) {
    m.mtp_layers = 1;
    f.in.assume("mtp_num_hidden_layers", "1", "the released weights of this family have one module");
  } else {
    count(f, &ModelSpec::mtp_layers, "mtp_num_hidden_layers", "no module of multi-token prediction");
  }
}

}  // namespace

void qwen3_next(Family& f) {
  delta_hybrid(f, true);
  switched_window(f);
}
void qwen3_5(Family& f) { delta_hybrid(f, false); }
void qwen3_5_moe(Family& f) { delta_hybrid(f, true); }

}  // namespace shardscape::hf
