#include "support/designs.h"

#include <algorithm>
#include <stdexcept>
#include <string>

namespace shardscape::test {

namespace {

// One layer of each kind. Heads that differ in number and in size from those of attention; experts where the
// architecture has them.
void add_linear_attention(ModelSpec& model) {
  const bool ring = model.architecture == "ring-linear", kimi = model.architecture.starts_with("kimi"),
             gated = model.architecture.starts_with("gated"),
             dense_first = ring || model.architecture == "kimi-linear";
  (ring ? model.linear_norm_groups : model.linear_key_heads) = 4;
  model.linear_value_heads = kimi ? 4 : 8;
  model.linear_key_dim = 4;
  model.linear_value_dim = kimi ? 4 : 3;
  model.linear_chunk = 4;
  if (kimi || gated) model.linear_conv = 3;
  if (kimi) model.gate_rank = 3;
  if (model.architecture != "kimi_delta_hybrid") model.rope_head_dim = 2;
  model.layers = dense_first ? 3 : 2;
  model.layer_pattern = dense_first ? "linear_dense, linear, full" : "linear, full";
  if (dense_first || model.architecture == "minimax-text" || model.architecture.ends_with("experts")) {
    model.experts = 4;
    model.experts_per_token = 2;
    model.expert_ffn = 8;
    model.shared_experts = model.architecture == "minimax-text" ? 0 : 1;
  }
  if (!dense_first || ring) return;
  model.kv_heads = model.heads;
  model.kv_rank = 6;
  model.nope_head_dim = 4;
  model.value_head_dim = 5;
}

// One layer of each kind, where the sequence has no more. Blocks of two tokens.
void add_compressed_keys(ModelSpec& model) {
  model.layers = 3;
  model.kv_heads = 4;
  model.q_rank = 6;
  model.rope_head_dim = 2;
  model.window = 3;
  model.compress_ratio = model.index_top_k = model.index_heads = 2;
  model.index_dim = 128;
  model.output_groups = 4;
  model.output_rank = 3;
  if (model.architecture != "deepseek4") return;
  model.layer_pattern = "window_hash, csa_hash, hca";
  model.ffn = 0;
  model.streams = 2;
  model.experts = 4;
  model.experts_per_token = 2;
  model.expert_ffn = 8;
  model.shared_experts = 1;
}

}  // namespace

Design preset_design(const char* preset, int64_t tp, int64_t pp, int64_t dp, bool sequence_parallel) {
  Design d = default_design();
  if (!apply_preset(d, preset)) throw std::invalid_argument(std::string("there is no preset ") + preset);
  d.parallel = {};
  d.parallel.tp = tp;
  d.parallel.pp = pp;
  d.parallel.dp = dp;
  d.parallel.sequence_parallel = sequence_parallel;
  return d;
}

Design tiny_design(const char* architecture) {
  Design d;
  d.model.preset = "";
  d.model.architecture = architecture;
  d.model.layers = 2;
  d.model.hidden = 16;
  d.model.heads = 4;
  d.model.kv_heads = 2;
  d.model.head_dim = 4;
  d.model.ffn = 24;
  d.model.vocab = 40;
  d.model.positions = d.model.architecture == "gpt" ? 8 : 0;
  const auto is_one_of = [&](std::initializer_list<const char*> names) {
    return std::find(names.begin(), names.end(), d.model.architecture) != names.end();
  };
  d.model.window = is_one_of({"mistral", "gemma2", "gpt-oss"}) ? 3 : 0;
  d.model.tied_embeddings = is_one_of({"gpt", "gemma", "gemma2", "mpt"});
  if (is_one_of({"latent", "sparse-latent"})) {
    d.model.kv_heads = 4;
    d.model.q_rank = 12;
    d.model.kv_rank = 10;
    d.model.nope_head_dim = 4;
    d.model.rope_head_dim = 2;
    d.model.value_head_dim = 5;
  }
  if (is_one_of({"sparse-latent", "deepseek3-sparse", "deepseek3-shared-index"})) {
    d.model.index_heads = 2;
    d.model.index_dim = 128;
    d.model.index_top_k = 3;
  }
  if (is_one_of({"block-sparse"})) {
    d.model.index_dim = 4;
    d.model.index_top_k = d.model.index_block = 2;
  }
  if (is_one_of({"compressed", "deepseek4"})) add_compressed_keys(d.model);
  if (is_one_of({"hyper", "hyper-moe"})) d.model.streams = 3;
  if (is_one_of({"attention-residual"})) d.model.block_layers = 2;
  if (d.model.architecture == "hyper-moe") {
    d.model.ffn = 0;
    d.model.experts = 4;
    d.model.experts_per_token = 2;
    d.model.expert_ffn = 8;
    d.model.shared_experts = 1;
  }
  if (d.model.architecture.starts_with("mamba")) {
    if (!d.model.architecture.ends_with("hybrid"))
      d.model.heads = d.model.kv_heads = d.model.head_dim = d.model.ffn = 0;
    d.model.ssm_state = 3;
    d.model.ssm_conv = 3;
    d.model.ssm_expand = 2;
    if (d.model.architecture == "mamba") {
      d.model.ssm_dt_rank = 2;
    } else {
      d.model.ssm_head_dim = d.model.ssm_groups = d.model.ssm_chunk = 4;
    }
  }
  for (const char* linear : kLinearArchitectures)
    if (d.model.architecture == linear) add_linear_attention(d.model);
  d.workload.seq = 8;
  d.workload.batch = 4;
  d.workload.microbatch = 1;
  d.workload.vocab_multiple = 1;
  return d;
}

Design tower_design(const char* architecture) {
  Design d = tiny_design(architecture);
  d.model.vision_layers = 2;
  d.model.vision_hidden = 8;
  d.model.vision_heads = 4;
  d.model.vision_head_dim = 2;
  d.model.vision_ffn = 12;
  d.model.vision_positions = 9;
  d.model.vision_patch = 1;
  d.model.vision_frames = 1;
  d.model.vision_merge = 4;
  d.workload.images = 2;
  d.workload.image_size = 2;
  d.workload.frames = 2;
  return d;
}

}  // namespace shardscape::test
