// DeepSeek-V4 (arXiv 2606.19348): attention to compressed keys, hyper-connections, experts by a table in the
// first layers.
#include <algorithm>
#include <set>

#include "model/huggingface/families/readers.h"
#include "model/layer_pattern.h"
#include "model/model_sizes.h"

namespace shardscape::hf {
namespace {

constexpr int64_t kPickedRatio = 4;  // with an indexer and keys that overlap; other ratios have neither

void attention(Family& f) {
  ModelSpec& m = f.model;
  f.in.size(&ModelSpec::heads, "num_attention_heads");
  m.kv_heads = m.heads;
  if (!f.in.absent("num_key_value_heads") &&
      f.in.number("num_key_value_heads", "keys that all heads share", 1, kFamilyDefault) != 1)
    f.in.problem(ProblemCode::HfUnsupportedVariant, "num_key_value_heads",
                 "several heads of keys are not supported in this family", "1");
  f.in.only("attention_bias", false, kNoBias);
  f.in.size(&ModelSpec::head_dim, "head_dim", 512, kFamilyDefault);
  f.in.size(&ModelSpec::rope_head_dim, "qk_rope_head_dim", 64, kFamilyDefault);
  f.in.size(&ModelSpec::q_rank, "q_lora_rank", 1024, kFamilyDefault);
  f.in.size(&ModelSpec::output_groups, "o_groups", 8, kFamilyDefault);
  f.in.size(&ModelSpec::output_rank, "o_lora_rank", 1024, kFamilyDefault);
  f.in.size(&ModelSpec::window, "sliding_window", 128, kFamilyDefault);
  f.in.size(&ModelSpec::index_heads, "index_n_heads", 64, kFamilyDefault);
  f.in.size(&ModelSpec::index_dim, "index_head_dim", 128, kFamilyDefault);
  f.in.size(&ModelSpec::index_top_k, "index_topk", 512, kFamilyDefault);
  if (!f.in.absent("compress_rope_theta"))
    f.in.ignore("compress_rope_theta", "constants of the rotary embedding change no size");
}

// Entries of "compress_ratios": one per layer, then one per module of multi-token prediction, which have a
// window alone. Empty after a problem.
std::vector<int64_t> ratios(Family& f) {
  const auto problem = [&](const std::string& what, const std::string& accepted) {
    f.in.problem(ProblemCode::HfUnsupportedVariant, "compress_ratios", what, accepted);
    return std::vector<int64_t>();
  };
  const json* list = f.in.value("compress_ratios");
  std::vector<int64_t> out;
  for (size_t i = 0; list && list->is_array() && i < list->size(); ++i)
    if ((*list)[i].is_number_integer()) out.push_back((*list)[i].get<int64_t>());
  const auto layers = static_cast<size_t>(std::max<int64_t>(0, f.model.layers));
  if (out.size() < layers || std::any_of(out.begin(), out.end(), [](int64_t ratio) { return ratio < 0; }))
    return problem("the value has no entry for each layer", "a list of at least " + std::to_string(layers) +
                                                                " numbers, 0 for layers with a window alone");
  if (std::any_of(out.begin() + static_cast<std::ptrdiff_t>(layers), out.end(),
                  [](int64_t ratio) { return ratio != 0; }))
    return problem("modules of multi-token prediction with compressed keys are not supported",
                   "0 after the layers");
  out.resize(layers);
  std::set<int64_t> dense(out.begin(), out.end());
  dense.erase(0);
  dense.erase(kPickedRatio);
  if (dense.size() > 1)
    return problem("layers that read all compressed keys have several ratios", "0, 4 and one other number");
  f.in.recognise("compress_ratios", "kinds of layers, and tokens of a compressed key");
  return out;
}

void layers(Family& f) {
  ModelSpec& m = f.model;
  const int64_t hashed = f.in.number("num_hash_layers", "layers whose experts a table selects", 3,
                                     kFamilyDefault);
  std::vector<std::string> kinds;
  std::set<std::string> dense;
  int64_t ratio_of_dense = 0;
  const std::vector<int64_t> all = ratios(f);
  for (size_t i = 0; i < all.size(); ++i) {
    const bool picks = all[i] == kPickedRatio;
    kinds.push_back(std::string(all[i] == 0 ? "window"
                                : picks     ? "csa"
                                            : "hca") +
                    (static_cast<int64_t>(i) < hashed ? "_hash" : ""));
    if (all[i] == 0 || picks) continue;
    dense.insert(kinds.back());
    ratio_of_dense = all[i];
  }
  if (kinds.empty()) return;
  m.layer_pattern = layer_pattern_text(kinds);
  m.compress_ratio = kPickedRatio;
  for (const std::string& kind : dense)
    m.variants.push_back({kind, kind, {{size_row(&ModelSpec::compress_ratio), ratio_of_dense}}});
}

void router(Family& f) {
  const auto word = [&](const char* key, const char* wanted, const char* note) {
    if (f.in.absent(key)) return f.in.assume(key, wanted, std::string(note) + ": the default of this family");
    f.in.recognise(key, note);
    if (const std::string found = f.in.text_or(key, ""); found != wanted)
      f.in.problem(ProblemCode::HfUnsupportedVariant, key,
                   "\"" + found + "\" is not supported in this family", wanted);
  };
  word("scoring_func", "sqrtsoftplus", "scoring of the router");
  word("topk_method", "noaux_tc", "selection of experts");
  for (const char* key : {"swiglu_limit", "hc_eps", "hc_sinkhorn_iters"})
    if (!f.in.absent(key)) f.in.ignore(key, "a constant of the activation or of the streams");
}

}  // namespace

void deepseek_v4(Family& f) {
  ModelSpec& m = f.model;
  m.architecture = "deepseek4";
  f.in.size(&ModelSpec::layers, "num_hidden_layers");
  f.in.size(&ModelSpec::hidden, "hidden_size");
  f.in.size(&ModelSpec::vocab, "vocab_size");
  tied(f, false);
  silu(f);
  attention(f);
  f.in.size(&ModelSpec::streams, "hc_mult", 4, kFamilyDefault);
  if (!deepseek_experts(f))
    return f.in.problem(ProblemCode::HfUnsupportedVariant, "n_routed_experts",
                        "layers without experts are not supported in this family", "at least 1");
  router(f);
  layers(f);
  count(f, &ModelSpec::mtp_layers, "num_nextn_predict_layers", "no module of multi-token prediction");
  if (!f.in.absent("max_position_embeddings"))
    f.context = f.in.number("max_position_embeddings", "longest sequence", 0, "not stated");
}

}  // namespace shardscape::hf
