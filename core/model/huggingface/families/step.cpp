// Step-3.5: gates of single heads; layers with a window have heads of their own; experts in the layers of a
// list; modules of multi-token prediction with heads of their own.
#include <set>
#include <sstream>

#include "model/huggingface/families/readers.h"
#include "model/layer_pattern.h"
#include "model/model_sizes.h"

namespace shardscape::hf {
namespace {

// The layers of a text such as "3,4,5", counted from 0.
std::set<int64_t> layers_with_experts(Family& f) {
  constexpr const char* kKey = "moe_layers_enum";
  std::set<int64_t> out;
  std::istringstream text(f.in.text_or(kKey, ""));
  char comma = ',';
  for (int64_t layer = 0; comma == ',' && text >> layer; text >> comma) out.insert(layer);
  if (!text.eof() || out.empty() || *out.begin() < 0 || *out.rbegin() >= f.model.layers)
    f.in.problem(ProblemCode::HfUnsupportedVariant, kKey, "the value does not list the layers with experts",
                 "numbers from 0 to " + std::to_string(f.model.layers - 1) + ", such as \"3,4,5\"");
  else
    f.in.recognise(kKey, "layers with experts");
  return out;
}

void layers(Family& f) {
  std::vector<std::string> usual;
  for (int64_t i = 0; i < f.model.layers; ++i) usual.emplace_back(i % 4 == 0 ? "full" : "sliding");
  std::vector<std::string> kinds = listed_layers(f, usual);
  const std::set<int64_t> experts = layers_with_experts(f);
  for (size_t i = 0; i < kinds.size(); ++i)
    if (!experts.contains(static_cast<int64_t>(i))) kinds[i] += "_dense";
  f.model.layer_pattern = layer_pattern_text(kinds);
}

// Sizes of layers with a window.
void window_sizes(Family& f) {
  f.in.size(&ModelSpec::window, "sliding_window", 512, kFamilyDefault);
  const std::string inside = "attention_other_setting";
  if (f.in.absent(inside) || f.in.null(inside)) return;
  only_text(f.in, (inside + ".attention_type").c_str(), "sliding_attention", "layers with these sizes");
  std::map<int, int64_t> sizes;
  for (const auto& [key, member] : {std::pair{".num_attention_heads", &ModelSpec::heads},
                                    {".num_attention_groups", &ModelSpec::kv_heads},
                                    {".head_dim", &ModelSpec::head_dim}}) {
    const int64_t own = f.in.number((inside + key).c_str(), "in layers with a window", f.model.*member,
                                    "as in layers without a window");
    if (own != f.model.*member) sizes[size_row(member)] = own;
  }
  if (!sizes.empty())
    f.model.variants = {{"sliding", "sliding", sizes}, {"sliding_dense", "sliding_dense", sizes}};
}

}  // namespace

void step3p5(Family& f) {
  f.model.architecture = "step3.5";
  f.in.size(&ModelSpec::layers, "num_hidden_layers");
  f.in.size(&ModelSpec::hidden, "hidden_size");
  f.in.size(&ModelSpec::heads, "num_attention_heads");
  f.in.size(&ModelSpec::kv_heads, "num_attention_groups", 8, kFamilyDefault);
  f.in.size(&ModelSpec::head_dim, "head_dim", 128, kFamilyDefault);
  f.in.size(&ModelSpec::ffn, "intermediate_size");
  f.in.size(&ModelSpec::vocab, "vocab_size");
  tied(f, false);
  silu(f);
  f.in.size(&ModelSpec::experts, "moe_num_experts");
  f.in.size(&ModelSpec::experts_per_token, "moe_top_k");
  f.in.size(&ModelSpec::expert_ffn, "moe_intermediate_size");
  f.in.size(&ModelSpec::shared_ffn, "share_expert_dim");
  f.model.shared_experts = 1;
  if (!f.in.absent("share_expert_dims"))
    f.in.ignore("share_expert_dims", "\"share_expert_dim\" has this value");
  f.in.only("norm_expert_weight", true,
            "weights of experts that are not normalised are not supported in this family");
  f.in.only("use_moe_router_bias", true, "a router without a balance bias is not supported in this family");
  only_text(f.in, "moe_router_activation", "sigmoid", "scoring of the router");
  f.in.only("use_head_wise_attn_gate", true, "attention without gates is not supported in this family");
  for (const char* key : {"moe_router_scaling_factor", "need_fp32_gate"})
    if (!f.in.absent(key)) f.in.ignore(key, "a constant");
  if (!f.in.absent("max_seq_len"))
    f.context = f.in.number("max_seq_len", "longest sequence", 0, "not stated");
  window_sizes(f);
  layers(f);
  count(f, &ModelSpec::mtp_layers, "num_nextn_predict_layers", "no module of multi-token prediction");
}

}  // namespace shardscape::hf
