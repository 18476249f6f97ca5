// Sizes and architecture of a MaxText launch: model_name, or base_* sizes and decoder_block.
#include <algorithm>
#include <vector>

#include "design/knobs/knob_state.h"
#include "design/knobs/knobs.h"
#include "launch/document/document_launch.h"
#include "launch/launch_parts.h"
#include "launch/maxtext/maxtext_fields.h"
#include "model/preset_names.h"

namespace shardscape {
namespace {

// Models whose sizes differ from a preset of the same blocks: src/maxtext/configs/models.
struct SizedModel {
  const char* name;
  const char* preset;
  std::vector<std::pair<const char*, const char*>> sizes;
};

const std::vector<SizedModel>& named_models() {
  static const std::vector<SizedModel> kModels{
      {"gpt3-175b", "gpt3-175b-megatron", {{"vocab", "50304"}}},
      {"gemma2-27b", "gemma2-27b", {{"vocab", "256128"}}},
      {"gemma3-12b",
       "gemma3-27b",
       {{"layers", "48"},
        {"hidden", "3840"},
        {"heads", "16"},
        {"kv_heads", "8"},
        {"head_dim", "256"},
        {"ffn", "15360"}}},
      {"deepseek2-16b", "deepseek-v2-lite", {}},
      {"deepseek2-236b", "deepseek-v2", {}},
      {"deepseek3-671b", "deepseek-v3", {{"mtp_layers", "0"}}},
      {"mistral-7b", "mistral-7b-v0.3", {{"vocab", "32000"}}},
      {"llama4-17b-16e", "llama4-scout", {}},
      {"llama4-17b-128e",
       "llama4-scout",
       {{"experts", "128"}, {"layer_pattern", "(chunked_dense, chunked, chunked_dense, full)*"}}},
      {"kimi-k2-1t", "kimi-k2", {}}};
  return kModels;
}

// decoder_block -> the architecture, and whether its layers have experts.
struct DecoderBlock {
  const char* name;
  const char* preset;  // whose blocks the sizes below replace
};
constexpr DecoderBlock kDecoderBlocks[] = {
    {"llama2", "llama2-7b"},        {"default", "llama2-7b"},       {"mistral", "mistral-7b-v0.3"},
    {"mixtral", "mixtral-8x7b"},    {"gpt3", "gpt3-175b-megatron"}, {"gemma", "gemma-7b"},
    {"gemma2", "gemma2-27b"},       {"qwen2", "qwen2.5-7b"},        {"qwen3", "qwen3-8b"},
    {"qwen3_moe", "qwen3-30b-a3b"}, {"gpt_oss", "gpt-oss-120b"}};

class ModelReader {
 public:
  ModelReader(LaunchFields& fields, const LaunchRequest& request, LaunchImport& out)
      : f_(fields), request_(request), out_(out) {}

  bool run() {
    const std::string name = f_.text("model_name").value_or("default");
    const bool sized = f_.has("base_emb_dim") || f_.has("decoder_block");
    const bool replaces = f_.on("override_model_config");
    if (name != "default" && named(name)) {
      if (replaces)
        replace_sizes(name);
      else
        for (const char* size : kSizes) f_.ignore(size, "model_name gives the sizes of the model");
      return true;
    }
    if (name != "default" && !sized)
      return set_requested_model(f_, request_, "model_name \"" + name + "\" is no model with known sizes",
                                 out_);
    return by_sizes();
  }

 private:
  bool named(const std::string& name) {
    const auto known = std::find_if(named_models().begin(), named_models().end(),
                                    [&](const SizedModel& one) { return name == one.name; });
    if (known == named_models().end()) return set_preset(f_, preset_id_of_name(name), "model_name");
    if (!set_preset(f_, known->preset, "model_name")) return false;
    if (!known->sizes.empty()) f_.design().model.preset.clear();
    for (const auto& [knob, value] : known->sizes) f_.set(knob, value, "model_name");
    return true;
  }

  // override_model_config: sizes of the command line replace those of the model (base.yml:24).
  void replace_sizes(const std::string& name) {
    const bool experts = f_.design().model.experts > 0;
    const bool shared = experts && !f_.has("base_moe_mlp_dim") && f_.design().model.dense_layers == 0;
    for (const auto& [argument, knob] : {std::pair{"base_emb_dim", "hidden"},
                                         {"base_num_query_heads", "heads"},
                                         {"base_num_kv_heads", "kv_heads"},
                                         {"head_dim", "head_dim"},
                                         {"base_mlp_dim", shared ? "expert_ffn" : "ffn"},
                                         {"base_num_decoder_layers", "layers"},
                                         {"vocab_size", "vocab"},
                                         {"num_experts", "experts"},
                                         {"num_experts_per_tok", "experts_per_token"},
                                         {"base_moe_mlp_dim", "expert_ffn"},
                                         {"first_num_dense_layers", "dense_layers"}}) {
      if (!f_.has(argument)) continue;
      if (const auto reason = without_effect(f_.design(), *find_knob(knob))) {
        f_.ignore(argument, *reason);
        continue;
      }
      // Local and global attention of Gemma 2 are one layer.
      const bool merged = name.starts_with("gemma2") && knob == std::string_view("layers");
      f_.set(knob, f_.number(argument, 0) * (merged ? 2 : 1), argument);
      f_.design().model.preset.clear();
    }
  }

  bool by_sizes() {
    const std::string block = f_.text("decoder_block").value_or("llama2");
    const auto known = std::find_if(std::begin(kDecoderBlocks), std::end(kDecoderBlocks),
                                    [&](const DecoderBlock& one) { return block == one.name; });
    if (known == std::end(kDecoderBlocks))
      return set_requested_model(f_, request_, "decoder_block \"" + block + "\" has no known blocks", out_);
    if (!set_preset(f_, known->preset, "decoder_block")) return false;
    f_.design().model.preset.clear();
    f_.design().name = "MaxText " + block;
    sizes(block);
    activations(block);
    return true;
  }

  // global_parameter_scale doubles heads and widths, then the hidden size, then the layers
  // (get_individual_scales, src/maxtext/configs/types.py:2857).
  void sizes(const std::string& block) {
    const int64_t scale = f_.number("global_parameter_scale", 1);
    int64_t doublings = 0;
    while (doublings < 40 && (int64_t{1} << (doublings + 1)) <= scale) ++doublings;
    if (scale < 1 || scale != int64_t{1} << doublings)
      f_.misread("global_parameter_scale", std::to_string(scale) + " is no power of 2");
    const int64_t base = doublings / 3, rest = doublings % 3;
    const auto scaled = [](int64_t size, int64_t times) { return size << times; };
    const int64_t heads = base + (rest > 0), width = base + (rest > 1);
    const int64_t merged = block == "gemma2" ? 2 : 1;  // local and global attention are one layer
    f_.set("hidden", scaled(f_.number("base_emb_dim", 2048), width), "base_emb_dim");
    f_.set("heads", scaled(f_.number("base_num_query_heads", 16), heads), "base_num_query_heads");
    f_.set("kv_heads", scaled(f_.number("base_num_kv_heads", 16), heads), "base_num_kv_heads");
    f_.set("head_dim", f_.number("head_dim", 128), "head_dim");
    const int64_t ffn = scaled(f_.number("base_mlp_dim", 7168), heads);
    f_.set("layers", scaled(f_.number("base_num_decoder_layers", 16), base) * merged,
           "base_num_decoder_layers");
    f_.set("vocab", f_.number("vocab_size", 32000), "vocab_size");
    f_.set("tied_embeddings", f_.on("logits_via_embedding") ? "true" : "false", "logits_via_embedding");
    const int64_t experts = f_.number("num_experts", 1);
    const bool mixture = f_.design().model.experts > 0;
    if (mixture) {
      f_.set("experts", experts, "num_experts");
      f_.set("experts_per_token", f_.number("num_experts_per_tok", 1), "num_experts_per_tok");
      const int64_t own = f_.number("base_moe_mlp_dim", -1);
      f_.set("expert_ffn", own > 0 ? scaled(own, heads) : ffn, own > 0 ? "base_moe_mlp_dim" : "base_mlp_dim");
      (void)f_.text("base_mlp_dim");
    } else {
      f_.set("ffn", ffn, "base_mlp_dim");
      if (experts > 1) f_.unmapped("num_experts", "the decoder block has no experts");
    }
    if (f_.has("sliding_window_size"))
      f_.set_effective("window", std::to_string(f_.number("sliding_window_size", 0)), "sliding_window_size");
  }

  void activations(const std::string& block) {
    const std::string given = f_.text("mlp_activations").value_or("silu linear");
    const std::string usual = block == "gpt3"                         ? "gelu"
                              : block == "gemma" || block == "gemma2" ? "gelu linear"
                              : block == "gpt_oss"                    ? "sigmoid linear"
                                                                      : "silu linear";
    if (given != usual)
      f_.unmapped("mlp_activations",
                  "\"" + given + "\" is not \"" + usual + "\" of the decoder block " + block);
    if (block != "gpt_oss" && f_.on("attention_bias"))
      f_.unmapped("attention_bias", "the decoder block has no biases");
  }

  static constexpr const char* kSizes[] = {"base_emb_dim", "base_num_query_heads",    "base_num_kv_heads",
                                           "base_mlp_dim", "base_num_decoder_layers", "base_moe_mlp_dim"};
  LaunchFields& f_;
  const LaunchRequest& request_;
  LaunchImport& out_;
};

}  // namespace

bool read_maxtext_model(LaunchFields& fields, const LaunchRequest& request, LaunchImport& out) {
  return ModelReader(fields, request, out).run();
}

}  // namespace shardscape
