// Mistral and Mixtral.
#include "model/huggingface/families/readers.h"

namespace shardscape::hf {
void mistral(Family& f) {
  llama_sizes(f, {}, false);
  silu(f);
  if (f.in.null("sliding_window")) {
    f.model.architecture = "llama";
    return f.in.recognise("sliding_window", "no window: every layer attends to the whole sequence");
  }
  f.model.architecture = "mistral";
  f.in.size(&ModelSpec::window, "sliding_window", 4096, "the default of this family");
}

void mixtral(Family& f) {
  f.model.architecture = "mixtral";
  llama_sizes(f, {}, false, &ModelSpec::expert_ffn);
  silu(f);
  routed_experts(f, "num_local_experts", "num_experts", 8, 2);
  if (f.in.value("sliding_window") && !f.in.null("sliding_window"))
    f.in.problem(ProblemCode::HfUnsupportedVariant, "sliding_window",
                 "a sliding window is not supported in this family", "null");
  else if (!f.in.absent("sliding_window"))
    f.in.recognise("sliding_window", "no window: every layer attends to the whole sequence");
}

}  // namespace shardscape::hf
