// All members of a structure in one list, each with the shared results below the graph that depend on the
// member. Graphs depend on every member. Cache keys are selections from this list. A member without a row
// does not compile, and a row does not compile without its uses.
#pragma once

#include <tuple>

#include "design/fields.h"
#include "graph/graph.h"

namespace shardscape {

// Results that structures with different members share.
struct StructureUses {
  bool segments = false;       // the segments of a graph
  bool lifetimes = false;      // lifetimes of storages (memory/segment_memory.h)
  bool compiled_ops = false;   // compiled expressions of ops (timing/compiled_ops.h)
  bool layer_classes = false;  // classes of layers, and the parts of their passes
};

namespace field_list {

inline constexpr StructureUses kGraph{};  // only graphs, which structures with different members do not share
inline constexpr StructureUses kSegments{.segments = true, .lifetimes = true, .compiled_ops = true};
inline constexpr StructureUses kBackward{.lifetimes = true, .layer_classes = true};
inline constexpr StructureUses kLifetimes{.lifetimes = true};
inline constexpr StructureUses kOps{.compiled_ops = true};
inline constexpr StructureUses kLayers{.layer_classes = true};
inline constexpr StructureUses kLayersAndOps{.compiled_ops = true, .layer_classes = true};

template <>
inline constexpr auto kFields<Structure> = std::tuple{
    field<kSegments>("architecture", &Structure::architecture),
    field<kSegments>("profile", &Structure::profile),
    field<kSegments>("library", &Structure::library),
    field<kSegments>("mode", &Structure::mode),
    field<kSegments>("cached_tokens", &Structure::cached_tokens),
    field<kSegments>("draft_module", &Structure::draft_module),
    field<kSegments>("cache_dtype", &Structure::cache_dtype),
    field<kSegments>("state_dtype", &Structure::state_dtype),
    field<kSegments>("dp", &Structure::dp),
    field<kSegments>("cp", &Structure::cp),
    field<kSegments>("ulysses", &Structure::ulysses),
    field<kSegments>("tp", &Structure::tp),
    field<kSegments>("sequence_parallel", &Structure::sequence_parallel),
    field<kSegments>("kv_split", &Structure::kv_split),
    field<kSegments>("one_kv_head", &Structure::one_kv_head),
    field<kGraph>("pp", &Structure::pp),
    field<kSegments>("tied", &Structure::tied),
    field<kSegments>("dropout", &Structure::dropout),
    field<kSegments>("packed", &Structure::packed),
    field<kSegments>("window", &Structure::window),
    field<kSegments>("chunk", &Structure::chunk),
    field<kSegments>("q_compressed", &Structure::q_compressed),
    field<kSegments>("mtp_layers", &Structure::mtp_layers),
    field<kSegments>("vectors", &Structure::vectors),
    field<kSegments>("holds_vectors", &Structure::holds_vectors),
    field<kSegments>("carried", &Structure::carried),
    field<kSegments>("lora", &Structure::lora),
    field<kSegments>("lora_modules", &Structure::lora_modules),
    field<kSegments>("lora_dropout", &Structure::lora_dropout),
    field<kSegments>("lora_packed", &Structure::lora_packed),
    field<kSegments>("frozen_dtype", &Structure::frozen_dtype),
    field<kSegments>("images", &Structure::images),
    field<kSegments>("frozen_tower", &Structure::frozen_tower),
    field<kSegments>("tower_data", &Structure::tower_data),
    field<kOps>("vision_stage", &Structure::vision_stage),
    field<kSegments>("vision_recompute", &Structure::vision_recompute),
    field<kSegments>("layers", &Structure::layers),
    field<kSegments>("formats", &Structure::formats),
    field<kLayers>("pattern", &Structure::pattern),
    field<kLayers>("lead_kind", &Structure::lead_kind),
    field<kSegments>("ssm_free_heads", &Structure::ssm_free_heads),
    field<kSegments>("ssm_heads", &Structure::ssm_heads),
    field<kSegments>("ssm_shared", &Structure::ssm_shared),
    field<kSegments>("dcp", &Structure::dcp),
    field<kSegments>("dcp_groups", &Structure::dcp_groups),
    field<kSegments>("cp_sequences", &Structure::cp_sequences),
    field<kSegments>("ring", &Structure::ring),
    field<kSegments>("zigzag", &Structure::zigzag),
    field<kGraph>("interleaved", &Structure::interleaved),
    field<kBackward>("split_backward", &Structure::split_backward),
    field<kGraph>("layout", &Structure::layout),
    field<kOps>("scatter_gather", &Structure::scatter_gather),
    field<kSegments>("grouped", &Structure::grouped),
    field<kSegments>("many_microbatch", &Structure::many_microbatch),
    field<kSegments>("dtype", &Structure::dtype),
    field<kSegments>("grad_dtype", &Structure::grad_dtype),
    field<kSegments>("compute", &Structure::compute),
    field<kGraph>("fp8_params", &Structure::fp8_params),
    field<kGraph>("transposed_weights", &Structure::transposed_weights),
    field<kGraph>("muon", &Structure::muon),
    field<kGraph>("moment_dtype", &Structure::moment_dtype),
    field<kGraph>("master_weights", &Structure::master_weights),
    field<kSegments>("recompute", &Structure::recompute),
    field<kSegments>("recompute_modules", &Structure::recompute_modules),
    field<kLayers>("recompute_groups", &Structure::recompute_groups),
    field<kLayers>("recompute_block", &Structure::recompute_block),
    field<kSegments>("fp8_activations", &Structure::fp8_activations),
    field<kSegments>("fp8_inputs", &Structure::fp8_inputs),
    field<kSegments>("fp8_attention", &Structure::fp8_attention),
    field<kGraph>("offload_optimizer", &Structure::offload_optimizer),
    field<kGraph>("offload_part", &Structure::offload_part),
    field<kLayersAndOps>("offload_activations", &Structure::offload_activations),
    field<kSegments>("split_checkpoints", &Structure::split_checkpoints),
    field<kSegments>("gathered_logits", &Structure::gathered_logits),
    field<kLifetimes>("separate_weight_gradients", &Structure::separate_weight_gradients),
    field<kSegments>("ep", &Structure::ep),
    field<kSegments>("edp", &Structure::edp),
    field<kSegments>("etp", &Structure::etp),
    field<kSegments>("folded", &Structure::folded),
    field<kSegments>("local_experts", &Structure::local_experts),
    field<kSegments>("fp8_dispatch", &Structure::fp8_dispatch),
    field<kSegments>("derived_slots", &Structure::derived_slots),
    field<kSegments>("padded_slots", &Structure::padded_slots),
    field<kSegments>("dispatcher", &Structure::dispatcher),
    field<kSegments>("ep_nodes", &Structure::ep_nodes),
    field<kSegments>("ep_local", &Structure::ep_local),
    field<kLifetimes>("sync", &Structure::sync),
    field<kGraph>("overlap", &Structure::overlap),
    field<kGraph>("accumulates", &Structure::accumulates),
    field<kGraph>("every_microbatch", &Structure::every_microbatch),
    field<kGraph>("reshards", &Structure::reshards),
    field<kGraph>("whole_until_reduced", &Structure::whole_until_reduced),
    field<kGraph>("stays_after_backward", &Structure::stays_after_backward),
    field<kGraph>("hybrid", &Structure::hybrid),
    field<kGraph>("edp_shards", &Structure::edp_shards),
    field<kGraph>("clip_grad_norm", &Structure::clip_grad_norm),
    field<kGraph>("average_loss", &Structure::average_loss)};

}  // namespace field_list

// The members with this use, as in members_with<&StructureUses::segments>(structure). Every other member has
// its default.
template <auto use>
Structure members_with(const Structure& structure) {
  Structure out;
  copy_fields<use>(structure, out);
  return out;
}

}  // namespace shardscape
