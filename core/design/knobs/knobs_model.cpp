// The rows of the knob table: the model.
#include "design/knobs/knob_writer.h"
#include "design/limits.h"

namespace shardscape {

void add_model(TableWriter& table) {
  using M = ModelSpec;
  constexpr auto model = &Design::model;
  table.group(KnobGroup::Model);
  table.section("Size");
  table.number(member<model, &M::layers>(), "layers", "Layers", "L", "", 1, kMaxLayers,
               "Transformer layers. Parameters, FLOPs and saved activations grow linearly with it.");
  table.number(member<model, &M::hidden>(), "hidden", "Hidden size", "D", "", 1, kMaxHidden,
               "Width of the residual stream. It need not equal heads x head size.");
  table.section("Attention");
  table.number(member<model, &M::heads>(), "heads", "Attention heads", "H", "", 0, kMaxHeads,
               "Query heads. Tensor parallelism gives each rank whole heads, so tp has to divide them.");
  table.number(
      member<model, &M::kv_heads>(), "kv_heads", "KV heads", "G", "", 0, kMaxHeads,
      "Key and value heads, each shared by heads / kv_heads query heads: equal to heads is multi-head, 1 is "
      "multi-query attention. With fewer KV heads than tp, each one is kept on tp / kv_heads ranks.");
  table.number(member<model, &M::head_dim>(), "head_dim", "Head size", "E", "", 0, kMaxHeadDim,
               "Width of one attention head. The score and context products cost 4 S^2 H E FLOPs per "
               "sequence and layer "
               "before masking.");
  table.section("MLP");
  table.number(
      member<model, &M::ffn>(), "ffn", "FFN size", "F", "", 0, kMaxFfn,
      "Inner width of the MLP; in a gated MLP the width of the gate and of the up projection each. Tensor "
      "parallelism splits it.");
  table.section("Experts");
  table.number(member<model, &M::experts>(), "experts", "Experts", "X", "", 0, kMaxExperts,
               "Routed experts of a mixture-of-experts layer. Parameters grow with it, FLOPs do not. 0 in "
               "dense models.");
  table.number(member<model, &M::experts_per_token>(), "experts_per_token", "Experts per token", "K", "", 0,
               kMaxExperts,
               "Experts that the router picks for every token (top-k). FLOPs and the volume of dispatch and "
               "combine grow "
               "with it.");
  table.number(member<model, &M::expert_groups>(), "expert_groups", "Expert groups", "", "groups", 1,
               kMaxExperts,
               "Group-limited routing (n_group; Megatron --moe-router-num-groups): experts in so many equal "
               "groups, of which a token "
               "picks a few and its experts from these. As many groups as nodes limit the nodes that a token "
               "is sent to, which "
               "matters where it is sent once per node (dispatcher flex). 1 is no limit.");
  table.number(member<model, &M::groups_per_token>(), "groups_per_token", "Groups per token", "", "groups", 1,
               kMaxExperts,
               "Groups that a token may pick experts from (topk_group; Megatron --moe-router-group-topk): 4 "
               "of 8 in DeepSeek-V3, 3 of "
               "8 in DeepSeek-V2. As many as there are is no limit.");
  table.number(member<model, &M::expert_ffn>(), "expert_ffn", "Expert FFN size", "Fx", "", 0, kMaxFfn,
               "Inner width of one expert's gated MLP. Expert tensor parallelism splits it.");
  table.number(member<model, &M::shared_experts>(), "shared_experts", "Shared experts", "", "", 0,
               kMaxSharedExperts,
               "Experts that every token goes through beside the routed ones, each as wide as those. They "
               "run as one MLP that "
               "tensor parallelism splits.");
  table.number(member<model, &M::dense_layers>(), "dense_layers", "Dense layers first", "", "layers", 0,
               kMaxLayers,
               "Layers at the start of the model that have a dense MLP of the FFN size instead of experts, "
               "as 3 in DeepSeek-V3.");
  table.section("Embeddings");
  table.number(member<model, &M::vocab>(), "vocab", "Vocabulary", "V", "entries", 1, kMaxVocab,
               "Entries of the tokenizer, before padding. Embedding and head hold V x D each unless tied; "
               "the logits of "
               "the last stage can set its memory peak.");
  table.number(
      member<model, &M::positions>(), "positions", "Learned positions", "Smax", "tokens", 0, kMaxSeq,
      "Rows of the learned position table, the longest sequence such a model can take. 0 for models with "
      "rotary positions, which have no table.");
  table.section("Latent attention");
  table.number(member<model, &M::q_rank>(), "q_rank", "Query rank", "Rq", "", 0, kMaxHidden,
               "Of latent attention: width to which queries are compressed before their heads are made. 0 "
               "projects them from "
               "the residual stream, as in DeepSeek-V2-Lite.");
  table.number(member<model, &M::kv_rank>(), "kv_rank", "KV rank", "Rkv", "", 0, kMaxHidden,
               "Of latent attention: width of the latent from which the keys and values of all heads are "
               "made. Inference "
               "caches it and the shared rotated key instead of all heads. 0 where attention is not latent.");
  table.number(member<model, &M::nope_head_dim>(), "nope_head_dim", "Plain head size", "En", "", 0,
               kMaxHeadDim, "Of latent attention: the part of a query's and key's head that is not rotated.");
  table.number(
      member<model, &M::rope_head_dim>(), "rope_head_dim", "Rotated head size", "Er", "", 0, kMaxHeadDim,
      "Of latent attention: the rotated part of a query's and key's head. The key's is shared by all heads.");
  table.number(member<model, &M::value_head_dim>(), "value_head_dim", "Value head size", "Ev", "", 0,
               kMaxHeadDim,
               "Of latent attention: width of a value's head. The score and context products cost 2 S^2 H "
               "(En + Er + Ev) FLOPs "
               "per sequence and layer before masking.");
  table.section("Multi-token prediction");
  table.number(member<model, &M::mtp_layers>(), "mtp_layers", "MTP depths", "", "", 0, kMaxMtpLayers,
               "Modules that each predict one token further ahead: two norms, a projection and a layer on "
               "the last stage, which "
               "share embedding and head with the model. The published size of DeepSeek-V3 is without its "
               "one module.");
  table.section("Attention");
  table.number(
      member<model, &M::window>(), "window", "Sliding window", "W", "tokens", 0, kMaxSeq,
      "Tokens that the sliding attention layers of Mistral, Gemma 2 and gpt-oss look back on, the query's "
      "own included. 0 "
      "lets them see the whole sequence. Changes the useful FLOPs; kernels are counted without any mask.");
  table.section("State space");
  table.number(member<model, &M::ssm_state>(), "ssm_state", "SSM state", "N", "", 0, kMaxSsmState,
               "State-space mixers (Mamba): numbers that each channel remembers. B and C, which write and "
               "read the state, have as "
               "many entries per token. 0 for models without such mixers.");
  table.number(
      member<model, &M::ssm_conv>(), "ssm_conv", "SSM convolution", "Kw", "tokens", 0, kMaxSsmFactor,
      "State-space mixers: tokens that the causal convolution before the scan sees, the own one included.");
  table.number(member<model, &M::ssm_expand>(), "ssm_expand", "SSM expansion", "e", "", 0, kMaxSsmFactor,
               "State-space mixers: channels of the scan per hidden size, so that e D channels are "
               "projected, scanned and "
               "gated. Tensor parallelism splits them.");
  table.number(
      member<model, &M::ssm_dt_rank>(), "ssm_dt_rank", "SSM step rank", "Rd", "", 0, kMaxHidden,
      "Mamba-1: rank of the projection that makes the step size of every channel, usually hidden / 16.");
  table.number(member<model, &M::ssm_head_dim>(), "ssm_head_dim", "SSM head size", "P", "", 0, kMaxHeadDim,
               "Mamba-2: channels that share one step size and one decay. There are e D / P heads.");
  table.number(member<model, &M::ssm_groups>(), "ssm_groups", "SSM groups", "Gs", "", 0, kMaxHeads,
               "Mamba-2: groups of heads that share B and C, and that are normalised together. Tensor "
               "parallelism gives each "
               "rank whole groups, so tp has to divide them.");
  table.number(member<model, &M::ssm_chunk>(), "ssm_chunk", "SSM chunk", "Q", "tokens", 0, kMaxSeq,
               "Mamba-2: tokens that the scan takes at once as matrix products. Larger chunks cost more "
               "FLOPs inside them and "
               "fewer passes of state between them.");
  table.section("Embeddings");
  table.flag(member<model, &M::tied_embeddings>(), "tied_embeddings", "Tied embeddings",
             "Input embedding and output projection share one matrix. With pipeline stages the first and the "
             "last both "
             "hold it and reduce its gradient between them every step.");
}

}  // namespace shardscape
