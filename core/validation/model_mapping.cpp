#include "validation/model_mapping.h"

#include <algorithm>

#include "model/preset_names.h"

namespace shardscape {
namespace {

// The preset with this name, or the longest preset name that is a prefix ("Mixtral-8x7B-v0.1").
const Preset* preset_with_prefix(const std::string& name) {
  const Preset* best = nullptr;
  size_t length = 0;
  for (const Preset& p : ModelLibrary::instance().presets())
    for (const std::string& known : {plain_name(p.id), plain_name(p.name)})
      if (known.size() > length && plain_name(name).starts_with(known)) {
        best = &p;
        length = known.size();
      }
  return best;
}

bool any_tensor(const Recording& r, std::initializer_list<const char*> words) {
  return std::any_of(r.tensors.begin(), r.tensors.end(), [&](const RecordedTensor& t) {
    return std::any_of(words.begin(), words.end(),
                       [&](const char* word) { return t.name.find(word) != std::string::npos; });
  });
}

const RecordedTensor* tensor_with(const Recording& r, std::initializer_list<const char*> words) {
  for (const RecordedTensor& t : r.tensors)
    for (const char* word : words)
      if (t.name.find(word) != std::string::npos) return &t;
  return nullptr;
}

// Mamba-1 projects its step sizes from a low rank; Mamba-2 has one step size per head.
std::string mixer_by_parameters(const Recording& r) {
  if (!any_tensor(r, {"mixer.A_log"}) || any_tensor(r, {"attention", "attn", "mlp", "experts."})) return "";
  return any_tensor(r, {"mixer.dt_proj"}) ? "mamba" : "mamba2";
}

// Parameters of a dense decoder identify its family. GPT: biases everywhere, with layer norms. Llama: no
// biases. Qwen 2: biases only on the query, key and value projections.
std::string architecture_by_parameters(const Recording& r) {
  if (any_tensor(r, {"mixer."})) return mixer_by_parameters(r);
  if (any_tensor(r, {"experts."})) {
    if (any_tensor(r, {"kv_a_proj"})) return "deepseek3";
    if (any_tensor(r, {"shared_experts."})) return "deepseek-moe";
    return any_tensor(r, {"q_norm", "norm_q", "q_layernorm"}) ? "qwen3-moe" : "mixtral";
  }
  const bool bias = any_tensor(r, {".bias"}),
             norm_bias = any_tensor(r, {"norm.bias", "ln_1.bias", "layernorm.bias"});
  if (norm_bias) return "gpt";
  if (any_tensor(r, {"q_norm", "norm_q"})) return "qwen3";
  return bias ? "qwen2" : "llama";
}

bool has_head(const Recording& r) {
  return any_tensor(r, {"output_layer.weight", "lm_head.weight"}) || tensor_with(r, {"output.weight"});
}

void architecture(const Recording& r, Mapping& m, FieldLedger& ledger) {
  const std::string name = ledger.text({"model"}).value_or("");
  const std::string found = architecture_by_parameters(r);
  const Preset* preset = preset_with_prefix(name);
  // Recordings of models with experts often carry the name of a model that they only resemble.
  if (preset && (preset->model.experts == 0 || r.tensors.empty() || preset->model.architecture == found)) {
    m.design.model = preset->model;
    m.design.model.preset = preset->id;
    return;
  }
  if (found.empty() || !ModelLibrary::instance().architecture(found)) {
    ledger.unmapped("model", "no preset has this name, and no architecture has these parameters");
    return;
  }
  m.design.model = ModelSpec{};
  m.design.model.preset.clear();
  m.design.model.architecture = found;
}

// Whether embedding and head share a table. On a stage without embedding and head, the answer has no effect.
bool tied(const Recording& r, const Mapping& m, bool by_preset) {
  if (m.code == CodeBase::MegatronLm) return true;  // Megatron-LM of 2022 always ties the tables
  if (r.tensors.empty()) return by_preset;
  return any_tensor(r, {"embed", "wte"}) && !has_head(r) && m.stage + 1 == m.design.parallel.pp;
}

}  // namespace

void map_model(const Recording& r, Mapping& m, FieldLedger& ledger) {
  architecture(r, m, ledger);
  const auto number = [&](const char* knob, std::initializer_list<const char*> names) {
    const auto value = ledger.integer(names);
    if (value) ledger.set(knob, *value, *names.begin());
    return value;
  };
  const auto hidden = number("hidden", {"hidden", "hidden_size", "d_model"});
  const auto heads = number("heads", {"heads", "num_attention_heads"});
  if (!number("kv_heads", {"kv_heads", "num_key_value_heads"}) && heads)
    ledger.set("kv_heads", *heads, "heads");
  if (!number("head_dim", {"head_dim"}) && hidden && heads && *heads > 0)
    ledger.set("head_dim", *hidden / *heads, "hidden");
  number("ffn", {"ffn", "intermediate_size"});
  number("vocab", {"padded_vocab", "vocab_padded", "vocab", "vocab_size"});
  ledger.set("tied_embeddings", tied(r, m, m.design.model.tied_embeddings) ? "true" : "false",
             "params_per_rank");

  // A stage without the embedding does not show its position table. Megatron's table has one row per token of
  // the sequence.
  const RecordedTensor* positions = tensor_with(r, {"position_embeddings", "wpe"});
  if (positions && positions->shape.empty()) positions = nullptr;
  const bool learned = positions || (m.code == CodeBase::MegatronLm && m.stage > 0);
  ledger.set("positions",
             positions ? positions->shape.at(0)
             : learned ? ledger.integer({"seq"}).value_or(0)
                       : 0,
             "params_per_rank");

  ledger.ignore({"norm", "attn_bias"});  // given by the architecture
  const auto some = [&](const char* knob, const char* field) {
    const auto value = ledger.integer({field});
    if (value && *value != 0) ledger.set(knob, *value, field);
  };
  some("experts", "experts");
  some("experts_per_token", "topk");
  some("expert_ffn", "moe_ffn");
  if (m.design.model.experts > 0 && m.design.model.expert_ffn == 0)
    ledger.set("expert_ffn", m.design.model.ffn, "ffn");
  some("shared_experts", "shared_experts");
  some("q_rank", "latent_attention.q_lora_rank");
  some("kv_rank", "latent_attention.kv_lora_rank");
  some("rope_head_dim", "latent_attention.qk_rope_head_dim");
  some("nope_head_dim", "latent_attention.qk_nope_head_dim");
  some("value_head_dim", "latent_attention.v_head_dim");
  ledger.ignore({"latent_attention"});
  some("ssm_state", "d_state");
  some("ssm_conv", "d_conv");
  some("ssm_expand", "expand");
  some("ssm_dt_rank", "dt_rank");
  some("ssm_head_dim", "headdim");
  some("ssm_groups", "ngroups");
  some("ssm_chunk", "chunk_size");
}

}  // namespace shardscape
