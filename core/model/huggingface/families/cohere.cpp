// Command A (Cohere2): attention and MLP in parallel after one norm.
#include "model/huggingface/families/readers.h"
#include "model/layer_pattern.h"

namespace shardscape::hf {
namespace {

// Kinds of the layers: full attention without positions every few layers, a window elsewhere.
std::vector<std::string> kinds(Family& f) {
  const int64_t period = f.in.absent("sliding_window_pattern") && !f.in.absent("layer_types")
                             ? 4
                             : f.in.number("sliding_window_pattern", "period of layers with full attention",
                                           4, "the default of this family");
  std::vector<std::string> out;
  for (int64_t i = 1; i <= f.model.layers; ++i)
    out.push_back(period > 0 && i % period == 0 ? "full" : "sliding");
  return out;
}

}  // namespace

void cohere2(Family& f) {
  f.model.architecture = "cohere2";
  llama_sizes(f, {}, true);
  silu(f);
  f.in.only("attention_bias", false, kNoBias);
  f.in.size(&ModelSpec::window, "sliding_window", 4096, "the default of this family");
  f.model.layer_pattern = layer_pattern_text(listed_layers(f, kinds(f)));
  if (!f.in.absent("logit_scale")) f.in.recognise("logit_scale", "a factor on the logits");
  f.in.only("use_qk_norm", false, "norms of queries and keys are not supported in this family");
}

}  // namespace shardscape::hf
