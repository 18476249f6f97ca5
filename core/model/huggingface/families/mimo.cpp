// MiMo-7B: Qwen2 with a module of multi-token prediction (arXiv 2505.07608, section 2.2). MiMo-V2-Flash:
// layers with a window have sinks and KV heads of their own; values have a head size of their own.
#include "model/huggingface/families/readers.h"
#include "model/layer_pattern.h"
#include "model/model_sizes.h"

namespace shardscape::hf {
namespace {

// Sizes of layers with a window that layers without one share.
void same_sizes(Family& f) {
  for (const auto& [key, member] : {std::pair{"swa_num_attention_heads", &ModelSpec::heads},
                                    {"swa_head_dim", &ModelSpec::head_dim},
                                    {"swa_v_head_dim", &ModelSpec::value_head_dim}})
    if (!f.in.absent(key) &&
        f.in.number(key, "as in layers without a window", f.model.*member, "not given") != f.model.*member)
      f.in.problem(ProblemCode::HfUnsupportedVariant, key,
                   "layers with a window differ in size from layers without",
                   std::to_string(f.model.*member));
}

}  // namespace

void mimo_v2_flash(Family& f) {
  ModelSpec& m = f.model;
  m.architecture = "mimo-v2";
  llama_sizes(f, {}, false);
  silu(f);
  f.in.only("attention_bias", false, kNoBias);
  f.in.size(&ModelSpec::value_head_dim, "v_head_dim", m.head_dim, "as wide as keys");
  rotated_part(f, 1);
  same_sizes(f);
  f.in.size(&ModelSpec::window, "sliding_window", 128, "the default of this family");
  f.in.only("add_swa_attention_sink_bias", true,
            "layers with a window and without sinks are not supported in this family");
  f.in.only("add_full_attention_sink_bias", false,
            "layers without a window and with sinks are not supported in this family");
  const int64_t own = f.in.number("swa_num_key_value_heads", "KV heads of layers with a window", m.kv_heads,
                                  "as in layers without a window");
  if (own != m.kv_heads) m.variants = {{"sliding", "sliding", {{size_row(&ModelSpec::kv_heads), own}}}};
  deepseek_experts(f);
  const auto slides = per_layer_numbers(f, "hybrid_layer_pattern",
                                        "layers with a window (1) and without (0)");
  const auto sparse = per_layer_numbers(f, "moe_layer_freq", "layers with experts (1) and without (0)");
  std::vector<std::string> layers;
  for (size_t i = 0; i < slides.size(); ++i) {
    layers.emplace_back(slides[i] == 1 ? "sliding" : sparse[i] == 1 ? "full" : "full_dense");
    if (slides[i] == 1 && sparse[i] != 1)
      return f.in.problem(ProblemCode::HfUnsupportedVariant, "moe_layer_freq",
                          "a layer with a window and without experts is not supported in this family",
                          "1 where \"hybrid_layer_pattern\" is 1");
  }
  m.layer_pattern = layer_pattern_text(layers);
  m.mtp_layers = 3;
  f.in.assume("num_nextn_predict_layers", "3", "the released weights have three modules");
}

void mimo(Family& f) {
  f.model.architecture = "mimo";
  llama_sizes(f, {}, false);
  silu(f);
  f.in.only("attention_bias", true, "projections without biases are not supported in this family");
  if (!f.in.absent("use_mrope"))
    f.in.only("use_mrope", false, "positions of several dimensions are not supported");
  switched_window(f);
  count(f, &ModelSpec::mtp_layers, "num_nextn_predict_layers", "no module of multi-token prediction");
}

}  // namespace shardscape::hf
