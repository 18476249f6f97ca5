// Gemma, Gemma 2 and Gemma 3.
#include "model/huggingface/families/readers.h"
#include "model/layer_pattern.h"

namespace shardscape::hf {
namespace {

void cap(Family& f, const char* key, const char* what) {
  if (f.in.absent(key)) return f.in.assume(key, "on", std::string(what) + ": the default of this family");
  if (f.in.null(key))
    return f.in.assume(key, "on", std::string(what) + " is off in the file, but this family always has it");
  f.in.recognise(key, what);
}

}  // namespace

void gemma(Family& f) {
  f.model.architecture = "gemma";
  llama_sizes(f, 256, true);
  f.in.activation({"hidden_activation", "hidden_act"}, {"gelu_pytorch_tanh", "gelu"}, "gelu_pytorch_tanh");
  f.in.only("attention_bias", false, kNoBias);
}

void gemma2(Family& f) {
  f.model.architecture = "gemma2";
  llama_sizes(f, 256, true);
  f.in.activation({"hidden_activation", "hidden_act"}, {"gelu_pytorch_tanh", "gelu"}, "gelu_pytorch_tanh");
  f.in.only("attention_bias", false, kNoBias);
  f.in.size(&ModelSpec::window, "sliding_window", 4096, "the default of this family");
  cap(f, "attn_logit_softcapping", "soft cap of the attention scores");
  cap(f, "final_logit_softcapping", "soft cap of the logits");
  windows_alternate(f);
}

// Five layers with a window to one without. Every query and key head is normalised.
void gemma3(Family& f) {
  f.model.architecture = "gemma3";
  llama_sizes(f, 256, true);
  f.in.activation({"hidden_activation", "hidden_act"}, {"gelu_pytorch_tanh", "gelu"}, "gelu_pytorch_tanh");
  f.in.only("attention_bias", false, kNoBias);
  f.in.size(&ModelSpec::window, "sliding_window", 4096, "the default of this family");
  const int64_t period = f.in.number("sliding_window_pattern", "period of layers with full attention", 6,
                                     "the default of this family");
  std::vector<std::string> usual;
  for (int64_t i = 1; i <= f.model.layers; ++i)
    usual.emplace_back(period > 0 && i % period == 0 ? "full" : "sliding");
  f.model.layer_pattern = layer_pattern_text(listed_layers(f, usual));
}

}  // namespace shardscape::hf
