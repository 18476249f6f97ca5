// ERNIE 4.5 with experts.
#include "model/huggingface/families/readers.h"

namespace shardscape::hf {
namespace {

// The first and the last layer with experts: all layers behind the leading dense ones.
void layers_with_experts(Family& f) {
  const int64_t first = f.in.number("moe_layer_start_index", "dense layers first", 1,
                                    "the default of this family");
  f.model.dense_layers = first;
  const json* end = f.in.value("moe_layer_end_index");
  if (end && *end != json(-1) && *end != json(f.model.layers - 1))
    f.in.problem(ProblemCode::HfUnsupportedVariant, "moe_layer_end_index",
                 "dense layers after the layers with experts are not supported",
                 "-1 or " + std::to_string(f.model.layers - 1));
  else if (end)
    f.in.recognise("moe_layer_end_index", "the last layer has experts");
  if (f.in.number("moe_layer_interval", "period of layers with experts", 1, "every layer") != 1)
    f.in.problem(ProblemCode::HfUnsupportedVariant, "moe_layer_interval",
                 "alternating layers with and without experts are not supported", "1");
}

}  // namespace

// The balance bias of the router is no parameter of the published model.
void ernie4_5_moe(Family& f) {
  f.model.architecture = "deepseek-moe";
  llama_sizes(f, {}, true);
  silu(f);
  f.in.only("use_bias", false, kNoBias);
  f.in.only("attention_bias", false, kNoBias);
  f.in.size(&ModelSpec::experts, "moe_num_experts", 64, kFamilyDefault);
  f.in.size(&ModelSpec::experts_per_token, "moe_k", 6, kFamilyDefault);
  f.in.size(&ModelSpec::expert_ffn, "moe_intermediate_size", 1536, kFamilyDefault);
  f.in.size(&ModelSpec::shared_experts, "moe_num_shared_experts", 2, kFamilyDefault);
  layers_with_experts(f);
  if (!f.in.absent("moe_use_aux_free"))
    f.in.ignore("moe_use_aux_free", "the balance bias of the router is not counted as parameters");
}

}  // namespace shardscape::hf
