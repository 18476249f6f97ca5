// gpt-oss.
#include "model/huggingface/families/readers.h"

namespace shardscape::hf {
void gpt_oss(Family& f) {
  f.model.architecture = "gpt-oss";
  llama_sizes(f, 64, false, &ModelSpec::expert_ffn);
  silu(f);
  f.in.only("attention_bias", true, "attention without biases is not supported in this family");
  routed_experts(f, "num_local_experts", "num_experts", 128, 4);
  const json* again = f.in.value("experts_per_token");
  const int64_t per_token = f.model.experts_per_token;
  if (again && !again->is_null() && *again != json(per_token))
    f.in.problem(ProblemCode::HfSizesContradict, "experts_per_token",
                 "the value differs from \"num_experts_per_tok\", " + std::to_string(per_token),
                 std::to_string(per_token));
  else if (again)
    f.in.ignore("experts_per_token", "\"num_experts_per_tok\" has this value");
  if (f.in.null("sliding_window"))
    f.in.recognise("sliding_window", "no window: every layer attends to the whole sequence");
  else
    f.in.size(&ModelSpec::window, "sliding_window", 128, "the default of this family");
  windows_alternate(f);
  for (const char* key : {"swiglu_limit", "swiglu_alpha"})
    if (!f.in.absent(key)) f.in.ignore(key, "a constant of the experts' activation");
  if (!f.in.absent("initial_context_length"))
    f.in.ignore("initial_context_length", "constants of the rotary embedding change no size");
}

}  // namespace shardscape::hf
