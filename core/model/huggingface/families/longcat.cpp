// LongCat-Flash: two attentions and two MLPs in a layer, and experts that start after the first attention.
#include "model/huggingface/families/readers.h"

namespace shardscape::hf {

void longcat_flash(Family& f) {
  f.model.architecture = "longcat";
  f.in.size(&ModelSpec::layers, "num_layers");
  f.in.size(&ModelSpec::hidden, "hidden_size");
  f.in.size(&ModelSpec::heads, "num_attention_heads");
  latent_sizes(f);
  f.in.size(&ModelSpec::ffn, "ffn_hidden_size");
  f.in.size(&ModelSpec::vocab, "vocab_size");
  tied(f, false);
  silu(f);
  f.in.only("attention_bias", false, kNoBias);
  f.in.only("router_bias", false, "biases of router logits are not supported in this family");
  f.in.size(&ModelSpec::experts, "n_routed_experts");
  f.in.size(&ModelSpec::experts_per_token, "moe_topk");
  f.in.size(&ModelSpec::expert_ffn, "expert_ffn_hidden_size");
  count(f, &ModelSpec::zero_experts, "zero_expert_num", "no experts that return their input");
  if (const std::string type = f.in.text_or("zero_expert_type", "identity"); type != "identity")
    f.in.problem(ProblemCode::HfUnsupportedVariant, "zero_expert_type",
                 "\"" + type + "\" experts are not supported", "identity");
  else if (!f.in.absent("zero_expert_type"))
    f.in.recognise("zero_expert_type", "zero-computation experts return their input");
  if (const std::string method = f.in.text_or("attention_method", "MLA"); method != "MLA")
    f.in.problem(ProblemCode::HfUnsupportedVariant, "attention_method",
                 "\"" + method + "\" is not supported in this family", "MLA");
  else if (!f.in.absent("attention_method"))
    f.in.recognise("attention_method", "latent attention");
  if (!f.in.absent("max_position_embeddings"))
    f.context = f.in.number("max_position_embeddings", "longest sequence", 0, "not stated");
}

}  // namespace shardscape::hf
