// The language models of Gemma 4.
#include <algorithm>

#include "base/wide.h"
#include "model/huggingface/families/readers.h"
#include "model/layer_pattern.h"
#include "model/model_sizes.h"

namespace shardscape::hf {
namespace {

// A number that may be 0, as where the key is absent.
int64_t number_or_none(Family& f, const char* key, const char* becomes, const char* none) {
  const json* found = f.in.value(key);
  if (found && !found->is_null() && *found != 0) return f.in.number(key, becomes);
  if (found) f.in.recognise(key, none);
  return 0;
}

bool flag(Family& f, const char* key, const char* becomes) {
  return !f.in.absent(key) && !f.in.null(key) && f.in.flag(key, becomes, false, kFamilyDefault);
}

// Part of the rotated numbers of a head in layers without a window.
double rotated_share(Family& f) {
  constexpr double kShare = 0.25;
  const json* stated = f.in.value("rope_parameters.full_attention.partial_rotary_factor");
  return stated && stated->is_number() ? stated->get<double>() : kShare;
}

// Experts next to the MLP of every layer.
void experts(Family& f, std::vector<std::string>& options) {
  if (!flag(f, "enable_moe_block", "experts next to the MLP")) {
    for (const char* key : {"num_experts", "top_k_experts", "moe_intermediate_size"})
      if (!f.in.absent(key)) f.in.ignore(key, "no layer has experts");
    return;
  }
  f.in.size(&ModelSpec::experts, "num_experts");
  f.in.size(&ModelSpec::experts_per_token, "top_k_experts");
  f.in.size(&ModelSpec::expert_ffn, "moe_intermediate_size");
  options.emplace_back("experts");
}

// A second table of the tokens, with numbers for every layer.
void per_layer_inputs(Family& f, std::vector<std::string>& options) {
  const char *const width = "hidden_size_per_layer_input", *const entries = "vocab_size_per_layer_input";
  f.model.per_layer_dim = number_or_none(f, width, "width of per-layer inputs (Dl)",
                                         "layers have no inputs of their own");
  if (f.model.per_layer_dim == 0) {
    if (!f.in.absent(entries)) f.in.ignore(entries, "layers have no inputs of their own");
    return;
  }
  options.emplace_back("per_layer");
  if (f.in.number(entries, "entries of the table of per-layer inputs", f.model.vocab, "the vocabulary") !=
      f.model.vocab)
    f.in.problem(ProblemCode::HfUnsupportedVariant, entries,
                 "a table of per-layer inputs with a different number of entries is not supported",
                 "the vocabulary, " + std::to_string(f.model.vocab));
}

// Layers of one kind have their own sizes where these differ from the model's.
void add_variant(ModelSpec& m, const char* kind,
                 const std::vector<std::pair<int64_t ModelSpec::*, int64_t>>& sizes) {
  LayerVariant variant{kind, kind, {}, {}};
  for (const auto& [member, value] : sizes)
    for (size_t row = 0; row < kModelSizes.size(); ++row)
      if (kModelSizes[row].member == member && m.*member != value)
        variant.sizes[static_cast<int>(row)] = value;
  if (!variant.sizes.empty()) m.variants.push_back(std::move(variant));
}

}  // namespace

// The last layers have no keys and values of their own: they read those of the last layer of their kind
// before them (modeling_gemma4.py of transformers, Gemma4TextAttention).
void gemma4(Family& f) {
  ModelSpec& m = f.model;
  llama_sizes(f, 256, true);
  f.in.activation({"hidden_activation", "hidden_act"}, {"gelu_pytorch_tanh"}, "gelu_pytorch_tanh");
  f.in.only("attention_bias", false, kNoBias);
  f.in.size(&ModelSpec::window, "sliding_window", 1024, kFamilyDefault);
  if (f.in.absent("final_logit_softcapping"))
    f.in.assume("final_logit_softcapping", "on", "soft cap of the logits: the default of this family");
  else
    f.in.recognise("final_logit_softcapping", "soft cap of the logits");
  constexpr const char* kAsWindows = "as in layers with a window";
  const int64_t full_dim = f.in.number("global_head_dim", "head size of layers without a window", m.head_dim,
                                       kAsWindows),
                full_kv = f.in.number("num_global_key_value_heads", "KV heads of layers without a window",
                                      m.kv_heads, kAsWindows),
                shared = number_or_none(f, "num_kv_shared_layers",
                                        "last layers that read the keys of earlier ones",
                                        "every layer has keys of its own");
  m.rope_head_dim = whole_int64(rotated_share(f) * static_cast<double>(full_dim));
  if (!f.in.absent("rope_parameters"))
    f.in.recognise("rope_parameters", "rotated part of a head without a window; frequencies have no cost");
  std::vector<std::string> options;
  if (flag(f, "attention_k_eq_v", "values of layers without a window are their keys"))
    options.emplace_back("key_as_value");
  experts(f, options);
  per_layer_inputs(f, options);
  const bool wide = flag(f, "use_double_wide_mlp",
                         "layers without keys of their own have MLPs of twice the width");
  std::vector<std::string> usual;
  for (int64_t i = 1; i <= m.layers; ++i) usual.emplace_back(i % 6 == 0 ? "full" : "sliding");
  std::vector<std::string> layers = listed_layers(f, usual);
  const int64_t first = std::max<int64_t>(0, m.layers - std::max<int64_t>(0, shared));
  for (int64_t i = first; i < std::ssize(layers); ++i) layers[static_cast<size_t>(i)] += "_shared";
  m.layer_pattern = layer_pattern_text(layers);
  m.architecture = "gemma4";
  for (size_t i = 0; i < options.size(); ++i) m.architecture += (i == 0 ? "; " : ", ") + options[i];
  const int64_t ffn = wide ? 2 * m.ffn : m.ffn;
  add_variant(m, "full", {{&ModelSpec::head_dim, full_dim}, {&ModelSpec::kv_heads, full_kv}});
  if (first < m.layers) {
    add_variant(m, "sliding_shared", {{&ModelSpec::ffn, ffn}});
    add_variant(m, "full_shared",
                {{&ModelSpec::head_dim, full_dim}, {&ModelSpec::kv_heads, full_kv}, {&ModelSpec::ffn, ffn}});
  }
}

}  // namespace shardscape::hf
