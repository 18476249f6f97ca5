// The numbers of a model that a person edits. model_sizes.h has a row for each size. The architecture decides
// which blocks the model consists of.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "model/weight_format.h"

namespace shardscape {

// A kind of layer of the architecture with sizes of its own.
struct LayerVariant {
  std::string name;              // in patterns and in symbols: E_full
  std::string kind;              // kind of layer of the architecture
  std::map<int, int64_t> sizes;  // by row of kModelSizes; all other sizes are the model's
  WeightFormats formats{};       // of roles that differ from the model's
  friend bool operator==(const LayerVariant&, const LayerVariant&) = default;
};

struct ModelSpec {
  std::string preset = "llama3-8b";    // the preset that the model started from
  std::string architecture = "llama";  // id in the model library
  int64_t layers = 0, hidden = 0, heads = 0, kv_heads = 0, head_dim = 0, ffn = 0, vocab = 0, positions = 0;
  int64_t experts = 0;            // X; 0 without mixture of experts, as for the other sizes of experts
  int64_t experts_per_token = 0;  // K
  // Experts form groups of equal size. A token chooses its experts from groups_per_token groups.
  int64_t expert_groups = 1;
  int64_t groups_per_token = 1;  // equal to expert_groups: no limit on groups
  int64_t expert_ffn = 0;        // inner width of one expert
  int64_t shared_experts = 0;    // every token passes through all of them, as one MLP
  int64_t shared_ffn = 0;        // inner width of that MLP; 0: shared_experts x expert_ffn
  int64_t latent_ffn = 0;        // width in which routed experts compute; 0: the hidden size
  int64_t zero_experts = 0;      // routed experts that return their input
  int64_t dense_layers = 0;      // dense layers before the first layer with experts
  // Latent attention: ranks of the compressed queries (0: uncompressed) and of compressed keys and values;
  // head sizes of the rotary part, the plain part, and values. All 0 without latent attention.
  int64_t q_rank = 0, kv_rank = 0, rope_head_dim = 0, nope_head_dim = 0, value_head_dim = 0;
  // Sparse attention: heads and head size of the indexer, keys or blocks of keys that a query picks, keys of
  // a block (0: single keys). All 0 without sparse attention.
  int64_t index_heads = 0, index_dim = 0, index_top_k = 0, index_block = 0;
  // Keys of blocks of tokens (DeepSeek-V4): tokens of a block. Output projection in groups of heads: groups,
  // and the width of each. All 0 in other models.
  int64_t compress_ratio = 0, output_groups = 0, output_rank = 0;
  int64_t mtp_layers = 0;  // depths of multi-token prediction beyond the next token
  // State-space mixers; 0 without mixers. State per channel; convolution taps; channels / hidden size. Mamba:
  // rank of the step size. Mamba-2: channels per head, heads (0: as many as the channels make), groups of
  // heads that share B and C, tokens per chunk of the scan.
  int64_t ssm_state = 0, ssm_conv = 0, ssm_expand = 0, ssm_dt_rank = 0, ssm_head_dim = 0, ssm_heads = 0,
          ssm_groups = 0, ssm_chunk = 0;
  int64_t block_layers = 0;   // attention residuals: layers of a residual block; 0 without them
  int64_t per_layer_dim = 0;  // width of the input that every layer has of its own (Gemma 4); 0: none
  int64_t streams = 0;        // residual streams of hyper-connections; 0: the usual single stream
  // Vision tower; 0 without one. Patches are vision_patch x vision_patch pixels of vision_frames frames;
  // vision_merge patches make one token of the language model. vision_projector: inner width of a projector
  // that does not have the width of the merged patches.
  int64_t vision_layers = 0, vision_hidden = 0, vision_heads = 0, vision_head_dim = 0, vision_ffn = 0,
          vision_positions = 0, vision_patch = 0, vision_frames = 0, vision_merge = 0, vision_projector = 0;
  // Linear attention; 0 without. Key heads, which value heads share in equal parts; sizes of a key head and
  // of a value head; convolution taps; tokens per chunk of the scan; groups of heads that share a norm; rank
  // of the projections to decay and output gate.
  int64_t linear_key_heads = 0, linear_value_heads = 0, linear_key_dim = 0, linear_value_dim = 0,
          linear_conv = 0, linear_chunk = 0, linear_norm_groups = 0, gate_rank = 0;
  int64_t window = 0;           // tokens in the window of sliding attention; 0: the whole sequence
  int64_t attention_chunk = 0;  // tokens in a chunk of attention in chunks; 0: the whole sequence
  bool tied_embeddings = false;
  std::string layer_pattern;  // the order of the layers (layer_pattern.h); empty: that of the architecture
  std::vector<LayerVariant> variants;
  WeightFormats weight_formats;  // as inference stores and multiplies weights; training ignores them
  int64_t shared_width() const { return shared_ffn > 0 ? shared_ffn : shared_experts * expert_ffn; }
  friend bool operator==(const ModelSpec&, const ModelSpec&) = default;
};

}  // namespace shardscape
