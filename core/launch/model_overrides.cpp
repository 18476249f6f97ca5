#include "launch/model_overrides.h"

#include <algorithm>

#include "model/huggingface/bookkeeping.h"

namespace shardscape {
namespace {

// Keys that mean the same size in every family of models.
constexpr std::pair<const char*, const char*> kSizes[] = {{"num_hidden_layers", "layers"},
                                                          {"hidden_size", "hidden"},
                                                          {"intermediate_size", "ffn"},
                                                          {"num_attention_heads", "heads"},
                                                          {"num_key_value_heads", "kv_heads"},
                                                          {"head_dim", "head_dim"},
                                                          {"vocab_size", "vocab"},
                                                          {"tie_word_embeddings", "tied_embeddings"},
                                                          {"num_experts", "experts"},
                                                          {"num_local_experts", "experts"},
                                                          {"n_routed_experts", "experts"},
                                                          {"num_experts_per_tok", "experts_per_token"},
                                                          {"moe_intermediate_size", "expert_ffn"},
                                                          {"n_shared_experts", "shared_experts"},
                                                          {"first_k_dense_replace", "dense_layers"},
                                                          {"num_nextn_predict_layers", "mtp_layers"}};

std::string lower_flag(const std::string& value) {
  return value == "True" ? "true" : value == "False" ? "false" : value;
}

}  // namespace

void override_model(LaunchFields& fields, const std::string& prefix) {
  for (const auto& [argument, value] : fields.arguments()) {
    if (!argument.starts_with(prefix)) continue;
    (void)fields.text(argument);
    std::string key = argument.substr(prefix.size());
    if (const std::string_view inner = "text_config."; key.starts_with(inner)) key = key.substr(inner.size());
    const auto size = std::find_if(std::begin(kSizes), std::end(kSizes),
                                   [&](const auto& one) { return one.first == key; });
    const std::string last = key.substr(key.rfind('.') + 1), top = key.substr(0, key.find('.'));
    if (size != std::end(kSizes)) {
      fields.design().model.preset.clear();
      fields.set_effective(size->second, lower_flag(value), argument);
    } else if (hf::bookkeeping_reason(last, value) || hf::bookkeeping_reason(top, value)) {
      fields.ignore(argument, "it changes no size of the model");
    } else {
      fields.unmapped(argument, "the model is changed, but no size of a design has this name");
    }
  }
}

}  // namespace shardscape
