#include "model/huggingface/bookkeeping.h"

#include <algorithm>
#include <iterator>
#include <string_view>

namespace shardscape::hf {
namespace {

// Keys with one reason. A star at an end of a name stands for any text.
struct Keys {
  const char* why;
  const char* names;               // separated by spaces
  const char* harmless = nullptr;  // the only value that changes nothing; null: every value
};

constexpr Keys kKeys[] = {
    {"token numbers change no size", "*token_id *token_ids *token_index"},
    {"the workload sets the data type", "dtype *_dtype use_bfloat16"},
    {"constants of the rotary embedding change no size",
     "rope_theta *_rope_theta rope_scaling* rope_parameters rope_type *rope_interleave* *mrope* "
     "use_scaled_rope "
     "rope_local_base_freq original_max_position_embeddings"},
    {"rotary positions need no table", "max_position_embeddings"},
    {"the workload sets the dropout", "*dropout *pdrop *_dropout_prob dropout_rate"},
    {"the initialisation of weights changes no size", "initializer_* init_* *_init_std *_init_scheme"},
    {"a constant",
     "*_eps *_epsilon *_scaling *_scaling_factor rescale_* *_scalar logit_scale softmax_scale "
     "attention_value_scale mla_scale_* scale_attn_* scale_emb scale_depth *_softmax_fp32 alibi_bias_max "
     "*aux_loss_* "
     "*z_loss* router_jitter_noise"},
    {"constants of the step size change no size",
     "time_step_floor time_step_limit time_step_min time_step_max time_step_scale"},
    {"choice of the normalisation kernel", "norm_type rms_norm"},
    {"the balance loss of experts changes no size", "seq_aux"},
    {"the normalisation of routing weights changes no size", "norm_topk_prob"},
    {"limits on the selection of experts change no size",
     "n_group topk_group topk_method index_topk_pattern"},
    {"the kernel profile decides",
     "*attn_impl attn_implementation* _attn_implementation* residual_in_fp32 fused_add_norm "
     "use_mamba_kernels use_flash_* _flash_attn_2_enabled chunk_size_feed_forward"},
    {"parallelism is set separately", "ep_size pretraining_tp base_model_tp_plan base_model_pp_plan"},
    {"the workload sets recomputation", "gradient_checkpointing use_gradient_checkpointing"},
    {"the model type decides; a next-token head is assumed", "architectures"},
    {"the vocabulary size decides", "tokenizer_* processor_class"},
    {"the version of the program that wrote the file",
     "transformers_version diffusers_version unsloth_version transformers.js_config"},
    {"says only how weights are stored", "quantization quantization_config"},
    {"location of the original code", "auto_map custom_pipelines"},
    {"a name", "_name_or_path _commit_hash name_or_path"},
    {"bookkeeping of the library",
     "torchscript tf_legacy_loss is_composition keys_to_ignore_at_inference unsloth_fixed verbose"},
    {"inference only", "use_cache cache_implementation use_cache_*"},
    {"an output option", "output_* return_dict* use_return_dict"},
    {"text generation only",
     "task_specific_params max_length min_length max_new_tokens min_new_tokens do_sample early_stopping "
     "num_beams num_beam_groups diversity_penalty temperature typical_p repetition_penalty "
     "length_penalty no_repeat_ngram_size encoder_no_repeat_ngram_size bad_words_ids num_return_sequences "
     "remove_invalid_values exponential_decay_length_penalty suppress_tokens begin_suppress_tokens "
     "chat_template prefix generation_config"},
    // The defaults of sampling. A router may use the same names with other values.
    {"text generation only", "top_k", "50"},
    {"text generation only", "top_p", "1.0"},
    {"belongs to another head",
     "summary_* id2label label2id num_labels problem_type finetuning_task classifier_* classification_head*"},
    // The defaults of a model that is only a decoder. Any other value is another architecture.
    {"the model is a decoder", "is_encoder_decoder add_cross_attention tie_encoder_decoder", "false"},
    {"the model is a decoder", "cross_attention_hidden_size", "null"},
    {"the model is a decoder", "is_decoder"},
    {"no head is pruned", "pruned_heads", "{}"},
};

bool matches(std::string_view pattern, std::string_view name) {
  const bool before = pattern.starts_with('*'), after = pattern.ends_with('*');
  if (before) pattern.remove_prefix(1);
  if (after) pattern.remove_suffix(1);
  if (before && after) return name.find(pattern) != std::string_view::npos;
  if (before) return name.ends_with(pattern);
  if (after) return name.starts_with(pattern);
  // A star in the middle: "base_model_tp_plan base_model_pp_plan".
  const size_t star = pattern.find('*');
  if (star == std::string_view::npos) return name == pattern;
  return name.size() + 1 >= pattern.size() && name.starts_with(pattern.substr(0, star)) &&
         name.ends_with(pattern.substr(star + 1));
}

bool lists(std::string_view names, std::string_view name) {
  while (!names.empty()) {
    const size_t end = std::min(names.find(' '), names.size());
    if (matches(names.substr(0, end), name)) return true;
    names.remove_prefix(std::min(end + 1, names.size()));
  }
  return false;
}

}  // namespace

const char* bookkeeping_reason(const std::string& name, const std::string& value) {
  const auto row = std::find_if(std::begin(kKeys), std::end(kKeys), [&](const Keys& keys) {
    return lists(keys.names, name) && (!keys.harmless || value == keys.harmless);
  });
  return row == std::end(kKeys) ? nullptr : row->why;
}

}  // namespace shardscape::hf
