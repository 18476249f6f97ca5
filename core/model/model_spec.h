// The numbers of a model that a person edits. Which blocks it is made of is its architecture.
#pragma once

#include <cstdint>
#include <string>

namespace shardscape {

struct ModelSpec {
  std::string preset = "llama3-8b";    // the preset it started from
  std::string architecture = "llama";  // id in the model library
  int64_t layers = 0, hidden = 0, heads = 0, kv_heads = 0, head_dim = 0, ffn = 0, vocab = 0, positions = 0;
  int64_t experts = 0;             // X; 0 in models without mixture of experts, as the sizes below
  int64_t experts_per_token = 0;   // K
  int64_t expert_groups = 1;       // experts in equal groups; a token picks its experts from groups_per_token of them
  int64_t groups_per_token = 1;    // as many as expert_groups: from all of them
  int64_t expert_ffn = 0;          // inner width of one expert
  int64_t shared_experts = 0;      // each as wide as a routed one; every token goes through them
  int64_t dense_layers = 0;        // layers with a dense MLP before the first one with experts
  // Latent attention: ranks of compressed queries (0: not compressed), and of keys and values; head sizes of the rotated and
  // the plain part of queries and keys, and of values. All 0 where the architecture has none.
  int64_t q_rank = 0, kv_rank = 0, rope_head_dim = 0, nope_head_dim = 0, value_head_dim = 0;
  int64_t mtp_layers = 0;  // depths of multi-token prediction beside the next token
  // State-space mixers, 0 where there is none: state per channel, taps of the convolution, channels / hidden size; Mamba's rank
  // of the step size; Mamba-2's channels per head, groups of heads that share B and C, tokens that the scan takes at once.
  int64_t ssm_state = 0, ssm_conv = 0, ssm_expand = 0, ssm_dt_rank = 0, ssm_head_dim = 0, ssm_groups = 0, ssm_chunk = 0;
  int64_t window = 0;  // tokens that sliding attention looks back on; 0: the whole sequence
  bool tied_embeddings = false;
  friend bool operator==(const ModelSpec&, const ModelSpec&) = default;
};

}  // namespace shardscape
