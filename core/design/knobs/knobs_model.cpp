// The rows of the knob table: the model.
#include "design/knobs/knob_writer.h"
#include "design/limits.h"

namespace shardscape {

namespace {

using M = ModelSpec;
constexpr auto model = &Design::model;

void add_dense_sizes(TableWriter& table) {
  table.section("Size");
  table.number(member<model, &M::layers>(), "layers", "Layers", "L", "", 1, kMaxLayers,
               "Transformer layers. Parameters, FLOPs and saved activations grow linearly with the "
               "number of layers.");
  table.number(member<model, &M::hidden>(), "hidden", "Hidden size", "D", "", 1, kMaxHidden,
               "Width of the residual stream. The width may differ from heads x head size.");
  table.section("Attention");
  table.number(member<model, &M::heads>(), "heads", "Attention heads", "H", "", 0, kMaxHeads,
               "Query heads. Tensor parallelism gives each rank whole heads, so tp has to divide them.");
  table.number(member<model, &M::kv_heads>(), "kv_heads", "KV heads", "G", "", 0, kMaxHeads,
               "Key and value heads. heads / kv_heads query heads share each. Equal to heads: "
               "multi-head attention. 1: multi-query attention. With fewer KV heads than tp, tp / "
               "kv_heads ranks hold a copy of each KV head.");
  table.number(member<model, &M::head_dim>(), "head_dim", "Head size", "E", "", 0, kMaxHeadDim,
               "Width of one attention head. The GEMMs of scores and context cost 4 S^2 H E FLOPs per "
               "sequence and layer before masking.");
  table.section("MLP");
  table.number(member<model, &M::ffn>(), "ffn", "FFN size", "F", "", 0, kMaxFfn,
               "Inner width of the MLP. In a gated MLP, gate and up projection have this width each. "
               "Tensor parallelism splits it.");
}

void add_expert_sizes(TableWriter& table) {
  table.section("Experts");
  table.number(member<model, &M::experts>(), "experts", "Experts", "X", "", 0, kMaxExperts,
               "Routed experts of a mixture-of-experts layer. More experts add parameters, but no "
               "FLOPs. 0 in dense models.");
  table.number(member<model, &M::experts_per_token>(), "experts_per_token", "Experts per token", "K", "", 0,
               kMaxExperts,
               "Experts that the router selects for every token (top-k). FLOPs and the volume of "
               "dispatch and combine grow with this number.");
  table.number(member<model, &M::expert_groups>(), "expert_groups", "Expert groups", "", "groups", 1,
               kMaxExperts,
               "Group-limited routing (n_group; Megatron --moe-router-num-groups): the experts form "
               "this many equal groups. A token selects a few groups, and its experts from these "
               "groups. With one group per node, groups per token bounds the nodes that receive the "
               "token. The bound has an effect with the dispatcher flex, which sends a token once per "
               "node. 1: no limit.");
  table.number(member<model, &M::groups_per_token>(), "groups_per_token", "Groups per token", "", "groups", 1,
               kMaxExperts,
               "Groups from which a token may select experts (topk_group; Megatron "
               "--moe-router-group-topk): 4 of 8 in DeepSeek-V3, 3 of 8 in DeepSeek-V2. Equal to the "
               "number of groups: no limit.");
  table.number(member<model, &M::expert_ffn>(), "expert_ffn", "Expert FFN size", "Fx", "", 0, kMaxFfn,
               "Inner width of one expert's gated MLP. Expert tensor parallelism splits it.");
  table.number(member<model, &M::shared_experts>(), "shared_experts", "Shared experts", "", "", 0,
               kMaxSharedExperts,
               "Experts that process every token, in addition to the routed experts. Each is as wide "
               "as a routed expert. They run as one MLP, which tensor parallelism splits.");
  table.number(member<model, &M::dense_layers>(), "dense_layers", "Leading dense layers", "", "layers", 0,
               kMaxLayers,
               "Layers at the start of the model with a dense MLP of the FFN size instead of experts: "
               "3 in DeepSeek-V3.");
}

void add_vocabulary(TableWriter& table) {
  table.section("Embeddings");
  table.number(member<model, &M::vocab>(), "vocab", "Vocabulary", "V", "entries", 1, kMaxVocab,
               "Entries of the tokenizer, before padding. Embedding and head hold V x D parameters "
               "each unless tied. The logits of the last stage can set its memory peak.");
  table.number(member<model, &M::positions>(), "positions", "Learned positions", "Smax", "tokens", 0, kMaxSeq,
               "Rows of the learned position table: the longest sequence that the model accepts. 0 for "
               "models with rotary positions, which have no table.");
}

void add_latent_attention(TableWriter& table) {
  table.section("Latent attention");
  table.number(member<model, &M::q_rank>(), "q_rank", "Query rank", "Rq", "", 0, kMaxHidden,
               "Latent attention: width to which queries are compressed. The query heads are projected "
               "from this latent. 0: the heads are projected from the residual stream, as in "
               "DeepSeek-V2-Lite.");
  table.number(member<model, &M::kv_rank>(), "kv_rank", "KV rank", "Rkv", "", 0, kMaxHidden,
               "Latent attention: width of the latent from which the keys and values of all heads are "
               "projected. Inference caches the latent and the shared rotary key instead of all heads. "
               "0: attention without latents.");
  table.number(member<model, &M::nope_head_dim>(), "nope_head_dim", "Non-rotary head size", "En", "", 0,
               kMaxHeadDim, "Latent attention: the part of a query or key head without rotary embedding.");
  table.number(member<model, &M::rope_head_dim>(), "rope_head_dim", "Rotary head size", "Er", "", 0,
               kMaxHeadDim,
               "Latent attention: the part of a query or key head with rotary embedding. All heads "
               "share this part of the key.");
  table.number(member<model, &M::value_head_dim>(), "value_head_dim", "Value head size", "Ev", "", 0,
               kMaxHeadDim,
               "Latent attention: width of a value head. The GEMMs of scores and context cost 2 S^2 H "
               "(En + Er + Ev) FLOPs per sequence and layer before masking.");
}

void add_prediction_and_window(TableWriter& table) {
  table.section("Multi-token prediction");
  table.number(member<model, &M::mtp_layers>(), "mtp_layers", "MTP depths", "", "", 0, kMaxMtpLayers,
               "Modules of multi-token prediction. Each predicts one token further ahead. A module has "
               "two norms, a projection and a layer on the last stage, and shares embedding and head "
               "with the model. The published size of DeepSeek-V3 excludes its one module.");
  table.section("Attention");
  table.number(member<model, &M::window>(), "window", "Sliding window", "W", "tokens", 0, kMaxSeq,
               "Tokens that the sliding attention layers of Mistral, Gemma 2 and gpt-oss attend to, "
               "including the query's own. 0: the whole sequence. Changes useful FLOPs only: hardware "
               "FLOPs are counted without masks.");
}

void add_state_space(TableWriter& table) {
  table.section("State space");
  table.number(member<model, &M::ssm_state>(), "ssm_state", "SSM state", "N", "", 0, kMaxSsmState,
               "State-space mixers (Mamba): numbers in the state of each channel. B and C, which write "
               "and read the state, have this many entries per token. 0 for models without such "
               "mixers.");
  table.number(member<model, &M::ssm_conv>(), "ssm_conv", "SSM convolution", "Kw", "tokens", 0, kMaxSsmFactor,
               "State-space mixers: tokens that the causal convolution before the scan reads, "
               "including the current token.");
  table.number(member<model, &M::ssm_expand>(), "ssm_expand", "SSM expansion", "e", "", 0, kMaxSsmFactor,
               "State-space mixers: channels of the scan / hidden size. e D channels are projected, "
               "scanned and gated. Tensor parallelism splits them.");
  table.number(member<model, &M::ssm_dt_rank>(), "ssm_dt_rank", "SSM step rank", "Rd", "", 0, kMaxHidden,
               "Mamba-1: rank of the projection that computes the step size of every channel, usually "
               "hidden / 16.");
  table.number(member<model, &M::ssm_head_dim>(), "ssm_head_dim", "SSM head size", "P", "", 0, kMaxHeadDim,
               "Mamba-2: channels that share one step size and one decay. There are e D / P heads.");
  table.number(member<model, &M::ssm_groups>(), "ssm_groups", "SSM groups", "Gs", "", 0, kMaxHeads,
               "Mamba-2: groups of heads that share B and C and one norm. Tensor parallelism gives "
               "each rank whole groups, so tp has to divide them.");
  table.number(member<model, &M::ssm_chunk>(), "ssm_chunk", "SSM chunk", "Q", "tokens", 0, kMaxSeq,
               "Mamba-2: tokens per chunk of the scan. Each chunk is computed by GEMMs. Larger chunks "
               "cost more FLOPs and pass the state between chunks less often.");
}

}  // namespace

void add_model(TableWriter& table) {
  table.group(KnobGroup::Model);
  add_dense_sizes(table);
  add_expert_sizes(table);
  add_vocabulary(table);
  add_latent_attention(table);
  add_prediction_and_window(table);
  add_state_space(table);
  table.section("Embeddings");
  table.flag(member<model, &M::tied_embeddings>(), "tied_embeddings", "Tied embeddings",
             "Input embedding and output projection share one matrix. With pipeline stages, the "
             "first and the last stage both hold the matrix and reduce its gradient between them "
             "every step.");
}

}  // namespace shardscape
