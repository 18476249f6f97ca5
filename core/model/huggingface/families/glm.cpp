// GLM-4.5 and GLM-4.6 (arXiv 2508.06471): rotary positions on a part of each head, experts with sigmoid
// scores after dense layers, one module of multi-token prediction.
#include "model/huggingface/families/readers.h"

namespace shardscape::hf {

void glm4_moe(Family& f) {
  llama_sizes(f, {}, false);
  silu(f);
  std::string options;
  if (f.in.flag("attention_bias", "biases of queries, keys and values", false, kFamilyDefault))
    options = "qkv_bias, ";
  if (f.in.flag("use_qk_norm", "norms of queries and keys", false, kFamilyDefault)) options += "qk_norm, ";
  f.model.architecture = "glm4-moe; " + options + "part_rope";
  rotated_part(f, 0.5);
  if (!deepseek_experts(f)) f.in.size(&ModelSpec::experts, "n_routed_experts");  // required
  if (f.in.absent("first_k_dense_replace")) {
    f.model.dense_layers = 1;
    f.in.assume("first_k_dense_replace", "1", kFamilyDefault);
  }
  count(f, &ModelSpec::mtp_layers, "num_nextn_predict_layers", "no module of multi-token prediction");
  if (!f.in.absent("num_nextn_predict_layers")) return;
  f.model.mtp_layers = 1;
  f.in.assume("num_nextn_predict_layers", "1", "the released weights have one module");
}

}  // namespace shardscape::hf
