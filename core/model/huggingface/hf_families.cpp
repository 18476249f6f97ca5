// The families of config.json: the keys of their sizes, the defaults of absent keys, and the options without
// blocks. Defaults are those of the configuration classes of the transformers library, version 4.
#include <algorithm>
#include <map>

#include "model/huggingface/hf_reader.h"

namespace shardscape {
namespace {

using json = nlohmann::ordered_json;

struct Family {
  HfReader& in;
  ModelSpec& model;
  int64_t& context;
};

void tied(Family& f, bool fallback) {
  f.model.tied_embeddings = f.in.flag("tie_word_embeddings", "tied embeddings", fallback,
                                      "the default of this family");
}

// The head size hidden / heads. Without "head_dim" in the file, the heads must divide the hidden size.
int64_t even_head_dim(Family& f, const char* hidden_key) {
  const ModelSpec& m = f.model;
  if (m.hidden % m.heads != 0)
    f.in.problem(ProblemCode::HfSizesContradict, hidden_key,
                 "the hidden size " + std::to_string(m.hidden) + " does not split over " +
                     std::to_string(m.heads) + " heads",
                 "a multiple of the heads, or a head size in \"head_dim\"");
  return m.hidden / m.heads;
}

// The keys that Llama and related families share. head_dim: default of "head_dim"; nullopt: hidden / heads.
// inner: the field that "intermediate_size" sets; nullptr if no layer is a dense MLP.
void llama_sizes(Family& f, std::optional<int64_t> head_dim, bool tied_by_default,
                 int64_t ModelSpec::*inner = &ModelSpec::ffn) {
  f.in.size(&ModelSpec::layers, "num_hidden_layers");
  const int64_t hidden = f.in.size(&ModelSpec::hidden, "hidden_size");
  const int64_t heads = f.in.size(&ModelSpec::heads, "num_attention_heads");
  f.in.size(&ModelSpec::kv_heads, "num_key_value_heads", heads, "as many as attention heads");
  if (!head_dim && (f.in.absent("head_dim") || f.in.null("head_dim")))
    head_dim = even_head_dim(f, "hidden_size");
  f.in.size(&ModelSpec::head_dim, "head_dim", head_dim,
            head_dim == hidden / heads ? "hidden size / heads" : "the default of this family");
  if (inner)
    f.in.size(inner, "intermediate_size");
  else if (!f.in.absent("intermediate_size"))
    f.in.ignore("intermediate_size", "size of dense layers, which this model lacks");
  f.in.size(&ModelSpec::vocab, "vocab_size");
  tied(f, tied_by_default);
  if (!f.in.absent("max_position_embeddings"))
    f.context = f.in.number("max_position_embeddings", "longest sequence", 0, "not stated");
}

void silu(Family& f) { f.in.activation({"hidden_act"}, {"silu", "swish"}, "silu"); }

constexpr const char* kNoBias = "biases of the projections have no blocks in this family";

void gpt2(Family& f) {
  f.model.architecture = "gpt";
  f.in.size(&ModelSpec::layers, "n_layer");
  const int64_t hidden = f.in.size(&ModelSpec::hidden, "n_embd");
  f.model.kv_heads = f.in.size(&ModelSpec::heads, "n_head");
  f.model.head_dim = even_head_dim(f, "n_embd");
  f.in.size(&ModelSpec::ffn, "n_inner", 4 * hidden, "4 x hidden size");
  f.in.size(&ModelSpec::vocab, "vocab_size");
  f.context = f.in.size(&ModelSpec::positions, "n_positions");
  if (!f.in.absent("n_ctx")) f.in.ignore("n_ctx", "\"n_positions\" says it");
  tied(f, true);
  f.in.activation({"activation_function"}, {"gelu_new", "gelu", "gelu_fast", "gelu_pytorch_tanh"},
                  "gelu_new");
  f.in.only("add_cross_attention", false, "attention to an encoder has no block");
}

void llama(Family& f) {
  f.model.architecture = "llama";
  llama_sizes(f, {}, false);
  silu(f);
  f.in.only("attention_bias", false, kNoBias);
  f.in.only("mlp_bias", false, kNoBias);
}

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

// Qwen files have a window and a switch for it. The switch is off in every released dense model.
void switched_window(Family& f) {
  if (f.in.value("use_sliding_window") && *f.in.value("use_sliding_window") == json(true)) {
    f.in.assume("use_sliding_window", "false",
                "a window on upper layers only has no block: all layers attend to the whole sequence");
  } else if (!f.in.absent("use_sliding_window")) {
    f.in.recognise("use_sliding_window", "every layer attends to the whole sequence");
  }
  for (const char* key : {"sliding_window", "max_window_layers", "layer_types"})
    if (!f.in.absent(key)) f.in.ignore(key, "no layer has sliding-window attention");
}

void qwen2(Family& f) {
  f.model.architecture = "qwen2";
  llama_sizes(f, {}, false);
  silu(f);
  switched_window(f);
}

void qwen3(Family& f) {
  f.model.architecture = "qwen3";
  llama_sizes(f, 128, false);
  silu(f);
  f.in.only("attention_bias", false, kNoBias);
  switched_window(f);
}

void gemma(Family& f) {
  f.model.architecture = "gemma";
  llama_sizes(f, 256, true);
  f.in.activation({"hidden_activation", "hidden_act"}, {"gelu_pytorch_tanh", "gelu"}, "gelu_pytorch_tanh");
  f.in.only("attention_bias", false, kNoBias);
}

void cap(Family& f, const char* key, const char* what) {
  if (f.in.absent(key)) return f.in.assume(key, "on", std::string(what) + ": the default of this family");
  if (f.in.null(key))
    return f.in.assume(key, "on",
                       std::string(what) + " is off in the file, but the blocks of this family have it");
  f.in.recognise(key, what);
}

// Requires that sliding and full attention alternate. An absent key means the same.
void windows_alternate(Family& f) {
  const json* types = f.in.value("layer_types");
  if (!types || types->is_null()) return;
  bool alternate = types->is_array();
  for (size_t i = 0; alternate && i < types->size(); ++i)
    alternate = (*types)[i] == (i % 2 == 0 ? "sliding_attention" : "full_attention");
  if (alternate) return f.in.recognise("layer_types", "sliding and full attention alternate");
  f.in.problem(ProblemCode::HfUnsupportedVariant, "layer_types",
               "the layers do not alternate between sliding and full attention",
               "sliding_attention, full_attention, sliding_attention, ...");
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
// Sizes of latent attention. The number of KV heads equals the number of heads.
void latent_sizes(Family& f) {
  constexpr const char* kUsual = "the default of this family";
  if (f.in.null("q_lora_rank"))
    f.in.recognise("q_lora_rank", "queries are not compressed");
  else
    f.in.size(&ModelSpec::q_rank, "q_lora_rank", 1536, kUsual);
  f.in.size(&ModelSpec::kv_rank, "kv_lora_rank", 512, kUsual);
  f.model.head_dim = f.in.size(&ModelSpec::nope_head_dim, "qk_nope_head_dim", 128, kUsual);
  f.in.size(&ModelSpec::rope_head_dim, "qk_rope_head_dim", 64, kUsual);
  f.in.size(&ModelSpec::value_head_dim, "v_head_dim", 128, kUsual);
  if (!f.in.absent("head_dim")) f.in.ignore("head_dim", "follows from the parts of a head");
  f.model.kv_heads = f.model.heads;
  if (!f.in.absent("num_key_value_heads"))
    f.in.ignore("num_key_value_heads", "every head has its own key and value, projected from the latent");
}

// Reads a number that may be 0; an absent key also means 0.
void count(Family& f, int64_t ModelSpec::*field, const char* key, const char* none) {
  const json* found = f.in.value(key);
  if (found && (found->is_null() || *found == 0)) return f.in.recognise(key, none);
  if (found) f.in.size(field, key);
}

// Experts of the DeepSeek families. Returns false if the file has no experts.
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
  if (!f.in.absent("moe_layer_freq") &&
      f.in.number("moe_layer_freq", "period of layers with experts", 1, "every layer") != 1)
    f.in.problem(ProblemCode::HfUnsupportedVariant, "moe_layer_freq",
                 "alternating layers with and without experts have no blocks in this family", "1");
  return true;
}

// Routed experts. experts_key: the family's name of their number. other_key: another name that transformers
// also writes.
void routed_experts(Family& f, const char* experts_key, const char* other_key, int64_t experts,
                    int64_t per_token) {
  constexpr const char* kUsual = "the default of this family";
  const bool other = f.in.absent(experts_key) && !f.in.absent(other_key);
  f.in.size(&ModelSpec::experts, other ? other_key : experts_key, experts, kUsual);
  if (!other && !f.in.absent(other_key))
    f.in.ignore(other_key, std::string("\"") + experts_key + "\" says it");
  f.in.size(&ModelSpec::experts_per_token, "num_experts_per_tok", per_token, kUsual);
  for (const char* key : {"router_jitter_noise", "router_z_loss_coef"})
    if (!f.in.absent(key)) f.in.ignore(key, "a constant");
}

void mixtral(Family& f) {
  f.model.architecture = "mixtral";
  llama_sizes(f, {}, false, &ModelSpec::expert_ffn);
  silu(f);
  routed_experts(f, "num_local_experts", "num_experts", 8, 2);
  if (f.in.value("sliding_window") && !f.in.null("sliding_window"))
    f.in.problem(ProblemCode::HfUnsupportedVariant, "sliding_window",
                 "a sliding window has no block in this family", "null");
  else if (!f.in.absent("sliding_window"))
    f.in.recognise("sliding_window", "no window: every layer attends to the whole sequence");
}

// Experts of Qwen: every layer has experts, with a width of their own.
void qwen_experts(Family& f, int64_t experts, int64_t per_token, int64_t width) {
  routed_experts(f, "num_experts", "num_local_experts", experts, per_token);
  f.in.size(&ModelSpec::expert_ffn, "moe_intermediate_size", width, "the default of this family");
  const bool steps = !f.in.absent("decoder_sparse_step") && !f.in.null("decoder_sparse_step");
  if (steps && f.in.number("decoder_sparse_step", "period of layers with experts", 1, "every layer") != 1)
    f.in.problem(ProblemCode::HfUnsupportedVariant, "decoder_sparse_step",
                 "alternating layers with and without experts have no blocks in this family", "1");
  const json* dense = f.in.value("mlp_only_layers");
  if (dense && !dense->is_null() && !(dense->is_array() && dense->empty()))
    f.in.problem(ProblemCode::HfUnsupportedVariant, "mlp_only_layers",
                 "layers without experts have no block in this family", "an empty list");
  else if (dense)
    f.in.recognise("mlp_only_layers", "every layer has experts");
}

void qwen2_moe(Family& f) {
  f.model.architecture = "qwen2-moe";
  llama_sizes(f, {}, false, nullptr);
  silu(f);
  f.in.only("qkv_bias", true, "attention without biases has no block in this family");
  switched_window(f);
  qwen_experts(f, 60, 4, 1408);
  const int64_t shared = f.in.number("shared_expert_intermediate_size", "FFN size of all shared experts (Fs)",
                                     5632, "the default of this family");
  const int64_t width = f.model.expert_ffn;
  f.model.shared_experts = shared / width;
  if (shared % width == 0) return;
  const int64_t below = std::max<int64_t>(1, shared / width) * width;
  f.in.problem(ProblemCode::HfSizesContradict, "shared_expert_intermediate_size",
               "shared experts " + std::to_string(shared) +
                   " wide are not a whole number of experts, which are " + std::to_string(width) + " wide",
               "a multiple of " + std::to_string(width) + ", such as " + std::to_string(below));
}

void qwen3_moe(Family& f) {
  f.model.architecture = "qwen3-moe";
  llama_sizes(f, {}, false, nullptr);
  silu(f);
  f.in.only("attention_bias", false, kNoBias);
  switched_window(f);
  qwen_experts(f, 128, 8, 768);
}

void gpt_oss(Family& f) {
  f.model.architecture = "gpt-oss";
  llama_sizes(f, 64, false, &ModelSpec::expert_ffn);
  silu(f);
  f.in.only("attention_bias", true, "attention without biases has no block in this family");
  routed_experts(f, "num_local_experts", "num_experts", 128, 4);
  const json* again = f.in.value("experts_per_token");
  const int64_t per_token = f.model.experts_per_token;
  if (again && !again->is_null() && *again != json(per_token))
    f.in.problem(ProblemCode::HfSizesContradict, "experts_per_token",
                 "it differs from \"num_experts_per_tok\", " + std::to_string(per_token),
                 std::to_string(per_token));
  else if (again)
    f.in.ignore("experts_per_token", "\"num_experts_per_tok\" says it");
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

// DeepSeek MoE, DeepSeek-V2, DeepSeek-V3 and Kimi K2.
void deepseek(Family& f) {
  const bool latent = f.in.text_or("model_type", "") != "deepseek";
  if (latent) {
    f.in.size(&ModelSpec::layers, "num_hidden_layers");
    f.in.size(&ModelSpec::hidden, "hidden_size");
    f.in.size(&ModelSpec::heads, "num_attention_heads");
    latent_sizes(f);
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
  const bool sigmoid = f.in.text_or("scoring_func", "softmax") == "sigmoid";
  if (!f.in.absent("scoring_func")) f.in.recognise("scoring_func", "scoring of the router");
  f.model.architecture = !latent    ? (experts ? "deepseek-moe" : "llama")
                         : !experts ? "latent"
                         : sigmoid  ? "deepseek3"
                                    : "deepseek2";
}

void mpt(Family& f) {
  f.in.size(&ModelSpec::layers, "n_layers");
  const int64_t hidden = f.in.size(&ModelSpec::hidden, "d_model");
  f.model.kv_heads = f.in.size(&ModelSpec::heads, "n_heads");
  f.model.head_dim = even_head_dim(f, "d_model");
  f.model.ffn = hidden *
                f.in.number("expansion_ratio", "FFN size / hidden size", 4, "the default of this family");
  f.in.size(&ModelSpec::vocab, "vocab_size");
  tied(f, true);
  const bool no_bias = f.in.flag("no_bias", "no biases", true, "the default of this family");
  const bool alibi = f.in.flag("attn_config.alibi", "ALiBi positions", false, "the default of this family");
  f.context = f.in.number("max_seq_len", alibi ? "longest sequence" : "learned positions (Smax)", 2048,
                          "the default of this family");
  if (alibi && !f.in.absent("learned_pos_emb"))
    f.in.ignore("learned_pos_emb", "ALiBi replaces the table of positions");
  const bool learned = !alibi && f.in.flag("learned_pos_emb", "a table of positions", true,
                                           "the default of this family");
  f.in.only("attn_config.qk_ln", false, "layer norms of queries and keys have no block in this family");
  f.in.only("attn_config.prefix_lm", false, "attention to a whole prefix has no block");
  const std::string type = f.in.text_or("attn_config.attn_type", "multihead_attention");
  if (type != "multihead_attention")
    f.in.problem(ProblemCode::HfUnsupportedVariant, "attn_config.attn_type",
                 "\"attn_type\" is \"" + type + "\", which has no block in this family",
                 "multihead_attention");
  else if (!f.in.absent("attn_config.attn_type"))
    f.in.recognise("attn_config.attn_type", "as in the blocks of this family");
  if (alibi && no_bias) {
    f.model.architecture = "mpt";
  } else if (learned && !no_bias) {
    f.model.architecture = "gpt";
    f.model.positions = f.context;
  } else {
    f.in.problem(ProblemCode::HfUnsupportedVariant, "no_bias",
                 "this combination of biases and positions has no blocks",
                 "ALiBi without biases (\"alibi\": true, \"no_bias\": true), or learned positions with "
                 "biases (\"alibi\": false, \"no_bias\": false)");
  }
}

// The sizes of all state-space mixers. Projections have no bias; the convolution has one.
void mixer_sizes(Family& f, int64_t state) {
  f.in.size(&ModelSpec::layers, "num_hidden_layers");
  f.in.size(&ModelSpec::hidden, "hidden_size");
  f.in.size(&ModelSpec::vocab, "vocab_size");
  f.in.size(&ModelSpec::ssm_state, "state_size", state, "the default of this family");
  f.in.size(&ModelSpec::ssm_conv, "conv_kernel", 4, "the default of this family");
  f.in.size(&ModelSpec::ssm_expand, "expand", 2, "the default of this family");
  f.in.activation({"hidden_act"}, {"silu", "swish"}, "silu");
  f.in.only("use_bias", false, kNoBias);
  f.in.only("use_conv_bias", true, "a convolution without a bias has no block in this family");
  for (const char* same : {"d_model", "n_layer"})
    if (!f.in.absent(same)) f.in.ignore(same, "follows from other keys of this family");
}

int64_t step_rank(const Family& f) { return (f.model.hidden + 15) / 16; }

void step_rank_of(Family& f, const char* key) {
  const json* rank = f.in.value(key);
  if (!rank || *rank != json("auto")) {
    f.in.size(&ModelSpec::ssm_dt_rank, key, step_rank(f), "hidden size / 16, rounded up");
    return;
  }
  f.model.ssm_dt_rank = step_rank(f);
  f.in.recognise(key, "rank of the step size (Rd): hidden size / 16, rounded up");
}

// The architecture's pattern fixes the periods: attention in every eighth layer, experts in every second
// layer.
void jamba(Family& f) {
  f.model.architecture = "jamba";
  llama_sizes(f, {}, false);
  silu(f);
  f.in.size(&ModelSpec::experts, "num_experts", 16, "the default of this family");
  f.in.size(&ModelSpec::experts_per_token, "num_experts_per_tok", 2, "the default of this family");
  f.model.expert_ffn = f.model.ffn;
  f.in.size(&ModelSpec::ssm_state, "mamba_d_state", 16, "the default of this family");
  f.in.size(&ModelSpec::ssm_conv, "mamba_d_conv", 4, "the default of this family");
  f.in.size(&ModelSpec::ssm_expand, "mamba_expand", 2, "the default of this family");
  step_rank_of(f, "mamba_dt_rank");
  for (const auto& [key, wanted] : {std::pair{"attn_layer_period", 8},
                                    {"attn_layer_offset", 4},
                                    {"expert_layer_period", 2},
                                    {"expert_layer_offset", 1}}) {
    if (f.in.number(key, "position of the layer", wanted, "the default of this family") != wanted)
      f.in.problem(ProblemCode::HfUnsupportedVariant, key, "layers in another order have no architecture",
                   std::to_string(wanted));
  }
  f.in.only("mamba_proj_bias", false, kNoBias);
  f.in.only("mamba_conv_bias", true, "a convolution without a bias has no block in this family");
}

void mamba(Family& f) {
  f.model.architecture = "mamba";
  mixer_sizes(f, 16);
  step_rank_of(f, "time_step_rank");
  for (const char* inner : {"intermediate_size", "d_inner"}) {
    if (f.in.absent(inner) || f.in.null(inner)) continue;
    if (f.in.number(inner, "channels (e D)") != f.model.ssm_expand * f.model.hidden)
      f.in.problem(ProblemCode::HfSizesContradict, inner,
                   std::string("\"") + inner + "\" is not expand x hidden size",
                   std::to_string(f.model.ssm_expand * f.model.hidden));
  }
  tied(f, true);
}

// The heads must cover all channels.
void mamba2_heads(Family& f, const char* heads_key) {
  f.in.size(&ModelSpec::ssm_head_dim, "head_dim", 64, "the default of this family");
  const int64_t channels = f.model.ssm_expand * f.model.hidden;
  const int64_t heads = f.in.number(heads_key, "heads (e D / P)", channels / f.model.ssm_head_dim,
                                    "channels / head size");
  if (heads * f.model.ssm_head_dim != channels)
    f.in.problem(ProblemCode::HfSizesContradict, heads_key,
                 std::to_string(heads) + " heads of " + std::to_string(f.model.ssm_head_dim) +
                     " channels are not expand x hidden size",
                 "heads x head size = " + std::to_string(channels));
}

void mamba2(Family& f) {
  f.model.architecture = "mamba2";
  mixer_sizes(f, 128);
  mamba2_heads(f, "num_heads");
  f.in.size(&ModelSpec::ssm_groups, "n_groups", 8, "the default of this family");
  f.in.size(&ModelSpec::ssm_chunk, "chunk_size", 256, "the default of this family");
  f.in.only("rms_norm", true, "a gate without a norm has no block in this family");
  f.in.only("norm_before_gate", false, "a norm before the gate has no block");
  if (!f.in.absent("time_step_rank")) f.in.ignore("time_step_rank", "Mamba-2 has one step size per head");
  tied(f, false);
}

// Files of the Mamba authors' own code: no model type, and the sizes of the mixer in "ssm_cfg".
void mamba_ssm(Family& f) {
  const std::string layer = f.in.text_or("ssm_cfg.layer", "Mamba1");
  const bool second = layer == "Mamba2";
  f.model.architecture = second ? "mamba2" : "mamba";
  if (!second && layer != "Mamba1")
    f.in.problem(ProblemCode::HfUnsupportedVariant, "ssm_cfg.layer",
                 "the mixer \"" + layer + "\" has no block", "Mamba1 or Mamba2");
  const int64_t hidden = f.in.size(&ModelSpec::hidden, "d_model");
  f.in.size(&ModelSpec::layers, "n_layer");
  const int64_t multiple = f.in.number("pad_vocab_size_multiple", "the vocabulary is padded to a multiple", 8,
                                       "the default of this code");
  const int64_t vocab = f.in.size(&ModelSpec::vocab, "vocab_size");
  f.model.vocab = (vocab + multiple - 1) / multiple * multiple;
  const char* kDefault = "the default of this code";
  f.in.size(&ModelSpec::ssm_state, "ssm_cfg.d_state", second ? 128 : 16, kDefault);
  f.in.size(&ModelSpec::ssm_conv, "ssm_cfg.d_conv", 4, kDefault);
  f.in.size(&ModelSpec::ssm_expand, "ssm_cfg.expand", 2, kDefault);
  if (second) {
    f.in.size(&ModelSpec::ssm_head_dim, "ssm_cfg.headdim", 64, kDefault);
    f.in.size(&ModelSpec::ssm_groups, "ssm_cfg.ngroups", 1, kDefault);
    f.in.size(&ModelSpec::ssm_chunk, "ssm_cfg.chunk_size", 256, kDefault);
  } else {
    f.in.size(&ModelSpec::ssm_dt_rank, "ssm_cfg.dt_rank", (hidden + 15) / 16, "hidden size / 16, rounded up");
  }
  f.in.only("rms_norm", true, "layer norms have no block in this family");
  const json* attention = f.in.value("attn_layer_idx");
  if (attention && !attention->empty())
    f.in.problem(ProblemCode::HfUnsupportedVariant, "attn_layer_idx",
                 "attention layers have no block in this family", "an empty list");
  const json* inner = f.in.value("d_intermediate");
  if (inner && *inner != json(0))
    f.in.problem(ProblemCode::HfUnsupportedVariant, "d_intermediate",
                 "an MLP after each mixer has no block in this family", "0");
  for (const auto& [key, note] : {std::pair{"attn_layer_idx", "no attention"},
                                  {"d_intermediate", "no MLP"},
                                  {"attn_cfg", "no attention"}})
    if (!f.in.absent(key)) f.in.recognise(key, note);
  f.model.tied_embeddings = f.in.flag("tie_embeddings", "tied embeddings", true, kDefault);
}

const std::map<std::string, void (*)(Family&)>& families() {
  static const std::map<std::string, void (*)(Family&)> all{{"gpt2", gpt2},
                                                            {"llama", llama},
                                                            {"mistral", mistral},
                                                            {"qwen2", qwen2},
                                                            {"qwen3", qwen3},
                                                            {"gemma", gemma},
                                                            {"gemma2", gemma2},
                                                            {"mpt", mpt},
                                                            {"deepseek", deepseek},
                                                            {"deepseek_v2", deepseek},
                                                            {"deepseek_v3", deepseek},
                                                            {"kimi_k2", deepseek},
                                                            {"mixtral", mixtral},
                                                            {"qwen2_moe", qwen2_moe},
                                                            {"qwen3_moe", qwen3_moe},
                                                            {"gpt_oss", gpt_oss},
                                                            {"jamba", jamba},
                                                            {"mamba", mamba},
                                                            {"mamba2", mamba2},
                                                            {kUntypedMamba, mamba_ssm}};
  return all;
}

}  // namespace

std::vector<std::string> hf_model_types() {
  std::vector<std::string> out;
  for (const auto& [type, read] : families())
    if (type != kUntypedMamba) out.push_back(type);
  return out;
}

bool read_hf_family(const std::string& model_type, HfReader& reader, ModelSpec& model, int64_t& context) {
  const auto it = families().find(model_type);
  if (it == families().end()) return false;
  Family family{reader, model, context};
  it->second(family);
  return true;
}

}  // namespace shardscape
