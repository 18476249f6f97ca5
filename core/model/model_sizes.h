// The sizes of a model, one row each. Knobs, presets, saved designs, cache keys, symbols and the importer of
// Hugging Face configurations all follow from the rows.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "model/axis.h"
#include "model/model_limits.h"
#include "model/model_spec.h"

namespace shardscape {

// Headings of the form.
enum class ModelSection : uint8_t {
  Size,
  Attention,
  Mlp,
  Experts,
  Embeddings,
  LatentAttention,
  SparseAttention,
  MultiToken,
  StateSpace,
  LinearAttention,
  Streams,
  Vision
};
std::string_view model_section_label(ModelSection section);  // "Latent attention"

// The part of a model that has the size. A model has the part if parameters have the axis. Without an axis,
// knob_state.cpp says when the size has an effect.
struct SizedPart {
  std::optional<Axis> axis{};
  const char* name = "";  // "Mamba-2 mixer"
  bool needed = false;    // the size must be at least 1 in models with the part
};

struct ModelSize {
  int64_t ModelSpec::*member;
  const char *id, *symbol;  // symbol: in formulas, may be empty
  const char *label, *unit;
  ModelSection section;
  int64_t min, max;
  SizedPart part;
  bool varies;              // layers of one model may have different values (LayerVariant)
  const char* imported_as;  // in the preview of an import
  const char* help;
};

namespace model_size_rows {

constexpr ModelSize per_model(int64_t ModelSpec::*member, const char* id, const char* symbol,
                              const char* label, const char* unit, ModelSection section, int64_t min,
                              int64_t max, SizedPart part, const char* imported_as, const char* help) {
  return {member, id, symbol, label, unit, section, min, max, part, false, imported_as, help};
}
constexpr ModelSize per_layer(int64_t ModelSpec::*member, const char* id, const char* symbol,
                              const char* label, const char* unit, ModelSection section, int64_t min,
                              int64_t max, SizedPart part, const char* imported_as, const char* help) {
  return {member, id, symbol, label, unit, section, min, max, part, true, imported_as, help};
}

using enum ModelSection;
using M = ModelSpec;
inline constexpr std::array kRows{
    per_model(&M::layers, "layers", "L", "Layers", "", Size, 1, kMaxLayers, {}, "layers (L)",
              "Transformer layers. Parameters, FLOPs and saved activations grow linearly with the "
              "number of layers."),
    per_model(&M::hidden, "hidden", "D", "Hidden size", "", Size, 1, kMaxHidden, {}, "hidden size (D)",
              "Width of the residual stream. The width may differ from heads x head size."),
    per_model(&M::streams, "streams", "n", "Residual streams", "", Streams, 0, kMaxStreams,
              {Axis::Streams, "hyper-connections", true}, "residual streams (n)",
              "Hyper-connections: number of vectors of the hidden size in the residual stream of a token. "
              "Each sublayer reads a weighted sum of the vectors and writes to all of them. Activations "
              "between layers and messages between stages grow with this number."),
    per_model(
        &M::block_layers, "residual_block_layers", "", "Residual block", "layers", Streams, 0, kMaxLayers, {},
        "layers of a residual block",
        "Attention residuals: number of layers whose results are summed into one vector per token. Each "
        "sublayer reads a sum of the vectors of all earlier blocks and of its own block so far, weighted by "
        "a softmax. Messages between stages and gradients grow by one vector with each block."),
    per_model(
        &M::per_layer_dim, "per_layer_dim", "Dl", "Per-layer input", "", Streams, 0, kMaxHidden,
        {Axis::PerLayer, "inputs per layer", true}, "width of per-layer inputs (Dl)",
        "Per-layer inputs (Gemma 4): numbers that every layer receives for each token, from a second table "
        "of V x L x Dl parameters and a projection of the embedding. They travel with the residual stream."),
    per_layer(&M::heads, "heads", "H", "Attention heads", "", Attention, 0, kMaxHeads,
              {Axis::Heads, "attention", true}, "attention heads (H)",
              "Query heads. Tensor parallelism gives each rank whole heads, so tp must divide them."),
    per_layer(&M::kv_heads, "kv_heads", "G", "KV heads", "", Attention, 0, kMaxHeads,
              {Axis::KvHeads, "attention", true}, "KV heads (G)",
              "Key and value heads. Each serves heads / kv_heads query heads. Equal to heads: multi-head "
              "attention. 1: multi-query attention. With fewer KV heads than tp, tp / kv_heads ranks hold a "
              "copy of each KV head."),
    per_layer(&M::head_dim, "head_dim", "E", "Head size", "", Attention, 0, kMaxHeadDim,
              {Axis::HeadDim, "attention", true}, "head size (E)",
              "Width of one attention head. The GEMMs of scores and context cost 4 S^2 H E FLOPs per "
              "sequence and layer before masking."),
    per_layer(&M::ffn, "ffn", "F", "FFN size", "", Mlp, 0, kMaxFfn, {Axis::Ffn, "MLP", true}, "FFN size (F)",
              "Inner width of the MLP. In a gated MLP, the gate and up projections each have this width. "
              "Tensor parallelism splits it."),
    per_layer(&M::experts, "experts", "X", "Experts", "", Experts, 0, kMaxExperts, {}, "experts (X)",
              "Routed experts of a mixture-of-experts layer. More experts add parameters, but no "
              "FLOPs. 0 in dense models."),
    per_layer(&M::experts_per_token, "experts_per_token", "K", "Experts per token", "", Experts, 0,
              kMaxExperts, {}, "experts per token (K)",
              "Experts that the router selects for every token (top-k). FLOPs and the volume of "
              "dispatch and combine grow with this number."),
    per_model(&M::expert_groups, "expert_groups", "", "Expert groups", "groups", Experts, 1, kMaxExperts, {},
              "groups of experts",
              "Group-limited routing (n_group; Megatron --moe-router-num-groups): number of equal groups of "
              "experts. A token selects a few groups, and then its experts from these groups. With one group "
              "per node, groups per token bounds the nodes that receive the token. The bound has an effect "
              "with the dispatcher flex, which sends a token once per node. 1: no limit."),
    per_model(&M::groups_per_token, "groups_per_token", "", "Groups per token", "groups", Experts, 1,
              kMaxExperts, {}, "groups from which a token selects experts",
              "Groups from which a token may select experts (topk_group; Megatron "
              "--moe-router-group-topk): 4 of 8 in DeepSeek-V3, 3 of 8 in DeepSeek-V2. Equal to the "
              "number of groups: no limit."),
    per_layer(&M::expert_ffn, "expert_ffn", "Fx", "Expert FFN size", "", Experts, 0, kMaxFfn, {},
              "FFN size of an expert (Fx)",
              "Inner width of one expert's gated MLP. Expert tensor parallelism splits it."),
    per_layer(&M::shared_experts, "shared_experts", "", "Shared experts", "", Experts, 0, kMaxSharedExperts,
              {}, "shared experts",
              "Experts that process every token, in addition to the routed experts. Each is as wide "
              "as a routed expert. They run as one MLP, which tensor parallelism splits."),
    per_layer(&M::shared_ffn, "shared_ffn", "Fs", "Shared expert FFN size", "", Experts, 0, kMaxFfn,
              {Axis::SharedFfn, "shared experts"}, "FFN size of the shared experts (Fs)",
              "Inner width of the shared experts together, where it differs from shared experts x expert FFN "
              "size. 0: that product."),
    per_layer(&M::latent_ffn, "latent_ffn", "Rx", "Latent width of experts", "", Experts, 0, kMaxHidden,
              {Axis::LatentWidth, "experts with a latent width", true}, "latent width of experts (Rx)",
              "Width to which tokens are projected before they are sent to routed experts. The experts "
              "compute in this width, and their sum is projected back to the hidden size. Dispatch and "
              "combine send this many numbers per token and expert."),
    per_layer(&M::zero_experts, "zero_experts", "Xz", "Zero-computation experts", "", Experts, 0, kMaxExperts,
              {Axis::AllRoutes, "zero-computation experts"}, "zero-computation experts (Xz)",
              "Routed experts that return their input. The router selects among them and the other experts. "
              "They have no parameters and no FLOPs, and receive no tokens (LongCat-Flash)."),
    per_model(&M::dense_layers, "dense_layers", "", "Leading dense layers", "layers", Experts, 0, kMaxLayers,
              {}, "dense layers first",
              "Layers at the start of the model with a dense MLP of the FFN size instead of experts: "
              "3 in DeepSeek-V3."),
    per_model(&M::vocab, "vocab", "V", "Vocabulary", "entries", Embeddings, 1, kMaxVocab, {},
              "vocabulary (V)",
              "Entries of the tokenizer, before padding. Embedding and head hold V x D parameters "
              "each unless tied. The logits of the last stage can set its memory peak."),
    per_model(&M::positions, "positions", "Smax", "Learned positions", "tokens", Embeddings, 0, kMaxSeq, {},
              "learned positions (Smax)",
              "Rows of the learned position table: the longest sequence that the model accepts. 0 for "
              "models with rotary positions, which have no table."),
    per_layer(&M::q_rank, "q_rank", "Rq", "Query rank", "", LatentAttention, 0, kMaxHidden,
              {Axis::QRank, "latent attention"}, "rank of the queries (Rq)",
              "Latent attention: width to which queries are compressed. The query heads are projected "
              "from this latent. 0: the heads are projected from the residual stream, as in "
              "DeepSeek-V2-Lite."),
    per_layer(&M::kv_rank, "kv_rank", "Rkv", "KV rank", "", LatentAttention, 0, kMaxHidden,
              {Axis::KvRank, "latent attention"}, "rank of keys and values (Rkv)",
              "Latent attention: width of the latent from which the keys and values of all heads are "
              "projected. Inference caches the latent and the shared rotary key instead of all heads. "
              "0: attention without latents."),
    per_layer(&M::nope_head_dim, "nope_head_dim", "En", "Non-rotary head size", "", LatentAttention, 0,
              kMaxHeadDim, {Axis::NopeDim, "latent attention"}, "non-rotary part of a head (En)",
              "Latent attention: the part of a query or key head without rotary embedding."),
    per_layer(
        &M::rope_head_dim, "rope_head_dim", "Er", "Rotary head size", "", LatentAttention, 0, kMaxHeadDim,
        {Axis::RopeDim, "heads with a rotary part"}, "rotary part of a head (Er)",
        "The part of a query or key head with rotary embedding, where only a part is rotated. In latent "
        "attention, all heads share this part of the key."),
    per_layer(
        &M::value_head_dim, "value_head_dim", "Ev", "Value head size", "", LatentAttention, 0, kMaxHeadDim,
        {Axis::ValueDim, "value heads of another size"}, "head size of values (Ev)",
        "Width of a value head, where it differs from that of a key head. In latent attention, the GEMMs "
        "of scores and context cost 2 S^2 H (En + Er + Ev) FLOPs per sequence and layer before masking."),
    per_model(&M::index_heads, "index_heads", "Hi", "Index heads", "", SparseAttention, 0, kMaxHeads,
              {Axis::IndexHeads, "lightning indexer", true}, "heads of the indexer (Hi)",
              "Sparse attention of DeepSeek-V3.2: heads whose weighted scores select the keys of a query. "
              "Every tensor-parallel rank holds the whole indexer."),
    per_model(&M::index_dim, "index_dim", "Ei", "Index head size", "", SparseAttention, 0, kMaxHeadDim,
              {Axis::IndexDim, "indexer", true}, "head size of the indexer (Ei)",
              "Sparse attention: width of an index key, which serves all index heads. Inference caches the "
              "index keys in addition to keys and values, in FP8 where the indexer is a lightning indexer."),
    per_model(&M::index_top_k, "index_top_k", "Ki", "Selected keys", "", SparseAttention, 0, kMaxSeq,
              {Axis::IndexDim, "indexer", true}, "keys that a query selects (Ki)",
              "Sparse attention: number of keys, or blocks of keys, that every query selects by its index "
              "scores. For longer contexts, the attention FLOPs per token are constant; those of the index "
              "scores still grow with the context."),
    per_model(&M::index_block, "index_block", "Bi", "Index block", "tokens", SparseAttention, 0, kMaxSeq,
              {Axis::IndexDim, "indexer"}, "tokens of a selected block (Bi)",
              "Sparse attention over blocks (MiniMax-M3): keys of a block. The score of a block is the "
              "largest score of its keys. 0: queries select single keys."),
    per_layer(
        &M::compress_ratio, "compress_ratio", "Cr", "Compressed tokens", "tokens", SparseAttention, 0,
        kMaxSeq, {Axis::CompressRatio, "compressed keys", true}, "tokens of a compressed key (Cr)",
        "Attention to compressed keys (DeepSeek-V4): tokens of a block, whose weighted sum is one key. A "
        "query attends to the tokens in its window and to the compressed keys of all whole blocks, or to "
        "those that an indexer selects. Cache and FLOPs per token of context shrink by this factor."),
    per_model(&M::mtp_layers, "mtp_layers", "", "MTP depths", "", MultiToken, 0, kMaxMtpLayers, {},
              "depths of multi-token prediction",
              "Modules of multi-token prediction. Each predicts one token further ahead. A module has two "
              "norms, a projection and a layer on the last stage, and shares embedding and head with the "
              "model. The published size of DeepSeek-V3 excludes its MTP module."),
    per_layer(&M::window, "window", "W", "Sliding window", "tokens", Attention, 0, kMaxSeq, {},
              "sliding window (W)",
              "Tokens that the sliding attention layers of Mistral, Gemma 2 and gpt-oss attend to, including "
              "the query's own. 0: the whole sequence. The window changes only useful FLOPs: hardware FLOPs "
              "are counted without masks."),
    per_layer(&M::attention_chunk, "attention_chunk", "Wc", "Attention chunk", "tokens", SparseAttention, 0,
              kMaxSeq, {}, "attention chunk (Wc)",
              "Attention in chunks (Llama 4): tokens of a chunk. A token attends only to its own chunk. "
              "Inference caches at most one chunk. 0: the whole sequence."),
    per_layer(&M::output_groups, "output_groups", "Go", "Output groups", "groups", LatentAttention, 0,
              kMaxHeads, {Axis::OutputGroups, "output projection in groups", true},
              "groups of the output projection (Go)",
              "Groups of heads, each of which is projected to the output rank on its own; a second "
              "projection joins the groups (DeepSeek-V4). Tensor parallelism gives each rank whole groups, "
              "so tp must divide them."),
    per_layer(&M::output_rank, "output_rank", "Ro", "Output rank", "", LatentAttention, 0, kMaxHidden,
              {Axis::OutputGroups, "output projection in groups", true},
              "width of a group of the output projection (Ro)",
              "Width to which the heads of a group are projected before the second output projection."),
    per_model(&M::ssm_state, "ssm_state", "N", "SSM state", "", StateSpace, 0, kMaxSsmState,
              {Axis::SsmState, "state-space mixer", true}, "state per channel (N)",
              "State-space mixers (Mamba): numbers in the state of each channel. B and C, which write and "
              "read the state, have this many entries per token. 0 for models without these mixers."),
    per_model(&M::ssm_conv, "ssm_conv", "Kw", "SSM convolution", "tokens", StateSpace, 0, kMaxSsmFactor,
              {Axis::SsmConv, "state-space mixer", true}, "taps of the convolution (Kw)",
              "State-space mixers: tokens that the causal convolution before the scan reads, "
              "including the current token."),
    per_model(&M::ssm_expand, "ssm_expand", "e", "SSM expansion", "", StateSpace, 0, kMaxSsmFactor,
              {Axis::SsmConv, "state-space mixer", true}, "channels / hidden size (e)",
              "State-space mixers: channels of the scan / hidden size. e D channels are projected, "
              "scanned and gated. Tensor parallelism splits them."),
    per_model(&M::ssm_dt_rank, "ssm_dt_rank", "Rd", "SSM step rank", "", StateSpace, 0, kMaxHidden,
              {Axis::SsmDtRank, "Mamba-1 mixer", true}, "rank of the step size (Rd)",
              "Mamba-1: rank of the projection that computes the step size of every channel, usually "
              "hidden / 16."),
    per_model(&M::ssm_head_dim, "ssm_head_dim", "P", "SSM head size", "", StateSpace, 0, kMaxHeadDim,
              {Axis::SsmHeadDim, "Mamba-2 mixer", true}, "channels of a head (P)",
              "Mamba-2: channels that share one step size and one decay. There are e D / P heads."),
    per_model(&M::ssm_heads, "ssm_heads", "Hm", "SSM heads", "", StateSpace, 0, kMaxHeads,
              {Axis::SsmHeadDim, "Mamba-2 mixer"}, "heads of a mixer (Hm)",
              "Mamba-2: heads of the scan, if their channels Hm P are not a multiple of the hidden size. The "
              "expansion e then has no effect. 0: there are e D / P heads."),
    per_model(&M::ssm_groups, "ssm_groups", "Gs", "SSM groups", "", StateSpace, 0, kMaxHeads,
              {Axis::SsmGroups, "Mamba-2 mixer", true}, "groups (Gs)",
              "Mamba-2: groups of heads that share B and C and one norm. Tensor parallelism gives each rank "
              "whole groups, so tp must divide them."),
    per_model(&M::ssm_chunk, "ssm_chunk", "Q", "SSM chunk", "tokens", StateSpace, 0, kMaxSeq,
              {Axis::SsmGroups, "Mamba-2 mixer", true}, "tokens of a chunk (Q)",
              "Mamba-2: tokens per chunk of the scan. Each chunk is computed by GEMMs. Larger chunks "
              "cost more FLOPs and pass the state between chunks less often."),
    per_layer(&M::linear_key_heads, "linear_key_heads", "Hk", "Linear key heads", "", LinearAttention, 0,
              kMaxHeads, {Axis::LinearKeyHeads, "linear attention with a delta rule", true},
              "key heads of linear attention (Hk)",
              "Linear attention with a delta rule (Gated DeltaNet, Kimi Delta Attention): heads of queries "
              "and keys. Each serves value heads / key heads value heads. Tensor parallelism gives each rank "
              "whole key heads, so tp must divide them."),
    per_layer(&M::linear_value_heads, "linear_value_heads", "Hv", "Linear value heads", "", LinearAttention,
              0, kMaxHeads, {Axis::LinearValueDim, "linear attention", true},
              "value heads of linear attention (Hv)",
              "Linear attention: heads with a state of their own. The size of the state is key head size x "
              "value head size, independent of the sequence length."),
    per_layer(&M::linear_key_dim, "linear_key_dim", "Ek", "Linear key size", "", LinearAttention, 0,
              kMaxHeadDim, {Axis::LinearKeyDim, "linear attention", true},
              "key head size of linear attention (Ek)", "Linear attention: width of a query or key head."),
    per_layer(&M::linear_value_dim, "linear_value_dim", "El", "Linear value size", "", LinearAttention, 0,
              kMaxHeadDim, {Axis::LinearValueDim, "linear attention", true},
              "value head size of linear attention (El)", "Linear attention: width of a value head."),
    per_layer(&M::linear_conv, "linear_conv", "Kl", "Linear convolution", "tokens", LinearAttention, 0,
              kMaxSsmFactor, {Axis::LinearConv, "convolution before linear attention", true},
              "taps of the convolution of linear attention (Kl)",
              "Linear attention: tokens that the causal convolutions of queries, keys and values read, "
              "including the current token."),
    per_layer(
        &M::linear_chunk, "linear_chunk", "Ql", "Linear chunk", "tokens", LinearAttention, 0, kMaxSeq,
        {Axis::LinearValueDim, "linear attention", true}, "tokens of a chunk of linear attention (Ql)",
        "Linear attention: tokens per chunk of the scan in training and prefill. Each chunk is computed "
        "by GEMMs: 64 in the kernels of flash-linear-attention, 256 in those of MiniMax."),
    per_layer(&M::linear_norm_groups, "linear_norm_groups", "Gl", "Linear norm groups", "", LinearAttention,
              0, kMaxHeads, {Axis::LinearNormGroups, "lightning attention", true},
              "groups of the norm of linear attention (Gl)",
              "Lightning attention: groups of heads that the norm after the scan normalises together. 1: all "
              "heads. Tensor parallelism gives each rank whole groups, so tp must divide them."),
    per_layer(&M::gate_rank, "gate_rank", "Rg", "Gate rank", "", LinearAttention, 0, kMaxHidden,
              {Axis::GateRank, "low-rank gate", true}, "rank of the gates (Rg)",
              "Kimi Delta Attention: width between the two projections that compute the decay of every key "
              "channel, and those of the output gate."),
    per_model(&M::vision_layers, "vision_layers", "L_vision", "Tower layers", "", Vision, 0, kMaxLayers,
              {Axis::PatchInputs, "vision tower", true}, "layers of the vision tower (L_vision)",
              "Layers of the vision tower, which turns patches of images into tokens. Models without a tower "
              "have 0 here and in all other tower sizes."),
    per_model(&M::vision_hidden, "vision_hidden", "D_vision", "Tower hidden size", "", Vision, 0, kMaxHidden,
              {Axis::PatchInputs, "vision tower", true}, "hidden size of the vision tower (D_vision)",
              "Width of the tower's residual stream."),
    per_model(&M::vision_heads, "vision_heads", "H_vision", "Tower heads", "", Vision, 0, kMaxHeads,
              {Axis::PatchInputs, "vision tower", true}, "attention heads of the vision tower (H_vision)",
              "Attention heads of the tower, each with keys and values of its own. Tensor parallelism gives "
              "each rank whole heads, so tp must divide them."),
    per_model(&M::vision_head_dim, "vision_head_dim", "E_vision", "Tower head size", "", Vision, 0,
              kMaxHeadDim, {Axis::PatchInputs, "vision tower", true},
              "head size of the vision tower (E_vision)", "Width of one attention head of the tower."),
    per_model(&M::vision_ffn, "vision_ffn", "F_vision", "Tower FFN size", "", Vision, 0, kMaxFfn,
              {Axis::PatchInputs, "vision tower", true}, "FFN size of the vision tower (F_vision)",
              "Inner width of the tower's MLP. Tensor parallelism splits it."),
    per_model(&M::vision_positions, "vision_positions", "Smax_vision", "Tower positions", "patches", Vision,
              0, kMaxSeq, {Axis::PatchInputs, "vision tower with learned positions", true},
              "learned positions of patches (Smax_vision)",
              "Rows of the tower's table of learned positions. Images with other numbers of patches "
              "interpolate the rows."),
    per_model(&M::vision_patch, "vision_patch", "pv", "Patch size", "pixels", Vision, 0, kMaxPatch,
              {Axis::PatchInputs, "vision tower", true}, "side of a patch (pv)",
              "Pixels along each side of a patch. An image has image_size / patch size patches per side."),
    per_model(&M::vision_frames, "vision_frames", "pf", "Frames per patch", "frames", Vision, 0, kMaxFrames,
              {Axis::PatchInputs, "vision tower", true}, "frames of a patch (pf)",
              "Frames of a video that one patch spans. An image repeats its only frame."),
    per_model(&M::vision_merge, "vision_merge", "Mv", "Patches per token", "patches", Vision, 0, kMaxPatch,
              {Axis::PatchInputs, "vision tower", true}, "patches of a token (Mv)",
              "Neighbouring patches that the projector merges into one token of the language model, 4 for a "
              "square of 2 x 2."),
    per_model(&M::vision_projector, "vision_projector", "Wp", "Projector width", "", Vision, 0, kMaxFfn,
              {Axis::ProjectorWidth, "projector with a width of its own", true},
              "inner width of the projector (Wp)",
              "Inner width of a projector whose width differs from that of the merged patches (Llama 4, "
              "MiniMax-M3)."),
};

}  // namespace model_size_rows

// In the order of the form.
inline constexpr auto kModelSizes = model_size_rows::kRows;
inline constexpr auto kModelSizeCount = static_cast<int>(kModelSizes.size());

// The row of a member.
constexpr const ModelSize& model_size(int64_t ModelSpec::*member) {
  return *std::find_if(kModelSizes.begin(), kModelSizes.end(),
                       [&](const ModelSize& size) { return size.member == member; });
}
constexpr int size_row(int64_t ModelSpec::*member) {
  return static_cast<int>(&model_size(member) - kModelSizes.data());
}
// The row with this id; nullptr: there is none.
const ModelSize* find_model_size(std::string_view id);

}  // namespace shardscape
