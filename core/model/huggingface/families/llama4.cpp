// Llama 4: three layers with chunked attention to one without positions; experts whose input the router
// scales.
#include "model/huggingface/families/readers.h"
#include "model/layer_pattern.h"

namespace shardscape::hf {
namespace {

// Layers without positions: 0 in "no_rope_layers", otherwise every fourth.
bool without_positions(Family& f, int64_t layer) {
  const json* list = f.in.value("no_rope_layers");
  const auto at = static_cast<size_t>(layer);
  return list && list->is_array() && at < list->size() ? (*list)[at] == 0 : (layer + 1) % 4 == 0;
}

}  // namespace

void llama4(Family& f) {
  ModelSpec& m = f.model;
  m.architecture = "llama4";
  llama_sizes(f, {}, false, &ModelSpec::expert_ffn);
  silu(f);
  f.in.only("attention_bias", false, kNoBias);
  f.in.size(&ModelSpec::attention_chunk, "attention_chunk_size", 8192, kFamilyDefault);
  f.in.size(&ModelSpec::ffn, "intermediate_size_mlp", 16384, kFamilyDefault);
  routed_experts(f, "num_local_experts", "num_experts", 16, 1);
  m.shared_experts = 1;
  if (!f.in.absent("use_qk_norm"))
    f.in.only("use_qk_norm", true, "queries and keys without norms are not supported in this family");
  const int64_t period = f.in.number("interleave_moe_layer_step", "period of layers with experts", 1,
                                     kFamilyDefault);
  std::vector<std::string> layers;
  for (int64_t i = 0; i < m.layers; ++i)
    layers.push_back(std::string(without_positions(f, i) ? "full" : "chunked") +
                     (period > 0 && (i + 1) % period == 0 ? "" : "_dense"));
  if (!f.in.absent("no_rope_layers")) f.in.recognise("no_rope_layers", "layers without positions");
  m.layer_pattern = layer_pattern_text(layers);
}

}  // namespace shardscape::hf
