// DeepSeek MoE, DeepSeek-V2, DeepSeek-V3, DeepSeek-V3.2, Kimi K2, GLM-5 and GLM-5.2.
#include <algorithm>

#include "model/huggingface/families/readers.h"
#include "model/layer_pattern.h"

namespace shardscape::hf {

void latent_sizes(Family& f) {
  if (f.in.null("q_lora_rank"))
    f.in.recognise("q_lora_rank", "queries are not compressed");
  else
    f.in.size(&ModelSpec::q_rank, "q_lora_rank", 1536, kFamilyDefault);
  f.in.size(&ModelSpec::kv_rank, "kv_lora_rank", 512, kFamilyDefault);
  f.model.head_dim = f.in.size(&ModelSpec::nope_head_dim, "qk_nope_head_dim", 128, kFamilyDefault);
  f.in.size(&ModelSpec::rope_head_dim, "qk_rope_head_dim", 64, kFamilyDefault);
  f.in.size(&ModelSpec::value_head_dim, "v_head_dim", 128, kFamilyDefault);
  if (!f.in.absent("head_dim")) f.in.ignore("head_dim", "follows from the sizes of the parts of a head");
  f.model.kv_heads = f.model.heads;
  if (!f.in.absent("num_key_value_heads"))
    f.in.ignore("num_key_value_heads", "every head has its own key and value, projected from the latent");
}

namespace {

// Whether a lightning indexer picks the keys of latent attention.
bool picks_keys(const Family& f) {
  const std::string type = f.type;
  return type == "deepseek_v32" || type == "glm_moe_dsa";
}

// Whether each layer reads the keys that an earlier layer picked: by "indexer_types", otherwise by the period
// of layers with an indexer, behind the first layers (configuration_glm_moe_dsa.py of transformers). Empty:
// every layer has an indexer.
std::vector<bool> shared_indexers(Family& f) {
  const char *const types = "indexer_types", *const freq = "index_topk_freq",
                    *const offset = "index_skip_topk_offset";
  const std::vector<std::string> listed = texts_of(f.in.value(types));
  std::vector<bool> out;
  if (!listed.empty()) {
    for (const char* key : {freq, offset})
      if (!f.in.absent(key)) f.in.ignore(key, "\"indexer_types\" has this information");
    for (const std::string& type : listed) {
      if (type != "full" && type != "shared")
        f.in.problem(ProblemCode::HfUnsupportedVariant, types, "\"" + type + "\" is not a kind of indexer",
                     "\"full\" or \"shared\" for every layer");
      out.push_back(type == "shared");
    }
    if (std::ssize(out) != f.model.layers)
      f.in.problem(ProblemCode::HfUnsupportedVariant, types,
                   "the list has " + std::to_string(out.size()) + " entries", "one entry for every layer");
    f.in.recognise(types, "layers that read the keys selected by an earlier layer");
  } else if (!f.in.absent(freq) && !f.in.null(freq)) {
    const int64_t period = std::max<int64_t>(
                      1, f.in.number(freq, "period of layers with an indexer", 1, "every layer")),
                  first = f.in.number(offset, "layers with an indexer before the period", 0, "none");
    for (int64_t i = 0; i < f.model.layers; ++i)
      out.push_back(i >= first && (i - first) % period != period - 1);
  } else if (!f.in.absent(offset)) {
    f.in.ignore(offset, "no layer shares an indexer");
  }
  const bool shares = std::find(out.begin(), out.end(), true) != out.end();
  return shares ? out : std::vector<bool>();
}

// The sizes of the lightning indexer.
void indexer(Family& f) {
  const bool glm = f.type == std::string("glm_moe_dsa");
  f.in.size(&ModelSpec::index_heads, "index_n_heads", glm ? 32 : 64, kFamilyDefault);
  f.in.size(&ModelSpec::index_dim, "index_head_dim", 128, kFamilyDefault);
  f.in.size(&ModelSpec::index_top_k, "index_topk", 2048, kFamilyDefault);
}

// The architecture and the pattern of a model whose layers share indexers.
void share_indexers(Family& f, const std::vector<bool>& shared) {
  ModelSpec& m = f.model;
  if (m.architecture != "deepseek3-sparse" || shared.front())
    return f.in.problem(
        ProblemCode::HfUnsupportedVariant, "indexer_types",
        "layers that read the keys selected by an earlier layer are not supported in this model",
        "an indexer in every layer, or layers with experts and an indexer in the first layer");
  m.architecture = "deepseek3-shared-index";
  std::vector<std::string> layers;
  for (int64_t i = 0; i < m.layers && i < std::ssize(shared); ++i)
    layers.push_back(std::string(i < m.dense_layers ? "dense" : "moe") +
                     (shared[static_cast<size_t>(i)] ? "_shared" : ""));
  m.layer_pattern = layer_pattern_text(layers);
}

// The architecture with this router. The balance bias exists if and only if "topk_method" is "noaux_tc";
// "scoring_func" decides on the scores alone (modeling_deepseek.py of DeepSeek-V3, deepseek_v2.py of vLLM).
const char* with_router(Family& f, bool latent) {
  const std::string type = f.type;
  const bool sparse = picks_keys(f), third = sparse || type == "deepseek_v3" || type == "kimi_k2";
  const auto word = [&](const char* key, const char* note, bool stated, const char* fallback) {
    if (!stated)
      f.in.assume(key, fallback, std::string(note) + ": the default of this family");
    else
      f.in.recognise(key, note);
    return stated ? f.in.text_or(key, "") : fallback;
  };
  const bool biased = word("topk_method", "selection of experts", !f.in.absent("topk_method"),
                           third ? "noaux_tc" : "greedy") == "noaux_tc";
  const std::string scores = word("scoring_func", "scoring of the router",
                                  !f.in.text_or("scoring_func", "").empty(), third ? "sigmoid" : "softmax");
  if (latent && biased && scores == "sigmoid") return sparse ? "deepseek3-sparse" : "deepseek3";
  if (latent && biased && scores == "softmax" && !sparse) return "deepseek3-softmax";
  if (!biased && !sparse && scores == "softmax") return latent ? "deepseek2" : "deepseek-moe";
  f.in.problem(ProblemCode::HfUnsupportedVariant, "scoring_func",
               "scores by " + scores + (biased ? " with" : " without") +
                   " a balance bias are not supported in this family",
               sparse ? "sigmoid with \"topk_method\": \"noaux_tc\""
               : latent
                   ? "sigmoid or softmax with \"topk_method\": \"noaux_tc\", or softmax with another method"
                   : "softmax with another \"topk_method\" than \"noaux_tc\"");
  return "deepseek2";
}

}  // namespace

bool deepseek_experts(Family& f) {
  if (f.in.absent("n_routed_experts") || f.in.null("n_routed_experts")) return false;
  f.in.size(&ModelSpec::experts, "n_routed_experts");
  f.in.size(&ModelSpec::experts_per_token, "num_experts_per_tok");
  // The greedy method has no group limit.
  if (f.in.text_or("topk_method", "") != "greedy")
    for (const auto& [field, key] :
         {std::pair{&ModelSpec::expert_groups, "n_group"}, {&ModelSpec::groups_per_token, "topk_group"}})
      if (!f.in.absent(key) && !f.in.null(key)) f.in.size(field, key);
  f.in.size(&ModelSpec::expert_ffn, "moe_intermediate_size");
  count(f, &ModelSpec::shared_experts, "n_shared_experts", "no shared experts");
  count(f, &ModelSpec::dense_layers, "first_k_dense_replace", "every layer has experts");
  // A list has an entry for each layer; its families read it.
  if (const json* period = f.in.value("moe_layer_freq");
      period && !period->is_array() &&
      f.in.number("moe_layer_freq", "period of layers with experts", 1, "every layer") != 1)
    f.in.problem(ProblemCode::HfUnsupportedVariant, "moe_layer_freq",
                 "alternating layers with and without experts are not supported in this family", "1");
  return true;
}

// DeepSeek MoE, DeepSeek-V2, DeepSeek-V3, DeepSeek-V3.2, Kimi K2 and GLM-5.
void deepseek(Family& f) {
  const bool latent = f.type != std::string("deepseek");
  std::vector<bool> shared;
  if (latent) {
    f.in.size(&ModelSpec::layers, "num_hidden_layers");
    f.in.size(&ModelSpec::hidden, "hidden_size");
    f.in.size(&ModelSpec::heads, "num_attention_heads");
    latent_sizes(f);
    if (picks_keys(f)) {
      indexer(f);
      shared = shared_indexers(f);
    }
    f.in.size(&ModelSpec::ffn, "intermediate_size");
    f.in.size(&ModelSpec::vocab, "vocab_size");
    tied(f, false);
    if (!f.in.absent("max_position_embeddings"))
      f.context = f.in.number("max_position_embeddings", "longest sequence", 0, "not stated");
  } else {
    llama_sizes(f, {}, false);
  }
  silu(f);
  f.in.only("attention_bias", false, kNoBias);
  count(f, &ModelSpec::mtp_layers, "num_nextn_predict_layers", "no module of multi-token prediction");
  const bool experts = deepseek_experts(f);
  if (experts) {
    f.model.architecture = with_router(f, latent);
    if (!shared.empty()) share_indexers(f, shared);
    return;
  }
  f.model.architecture = picks_keys(f) ? "sparse-latent" : latent ? "latent" : "llama";
  if (!shared.empty()) share_indexers(f, shared);
  if (!f.in.absent("scoring_func")) f.in.ignore("scoring_func", "no layer has experts");
}

}  // namespace shardscape::hf
