// All fields of a design in one list, each with the shared results that depend on the field. Cache keys and
// comparisons of parts of a design are selections from this list. A member without a row does not compile,
// and a row does not compile without its uses.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/plan_cache.h"
#include "design/design.h"
#include "model/model_sizes.h"
#include "model/recompute_module.h"

namespace shardscape {

// Results that designs with different fields share.
struct FieldUses {
  // The bound plan of a search and its memory: graph, symbols, stages, states, accelerator.
  bool bound_plan = false;
  bool schedule = false;       // the order of actions on each stage (pipeline/schedule.h, schedule_key)
  bool sync_plan = false;      // plans of gradient sync, beyond graph and symbols
  bool layer_seconds = false;  // seconds of layers, beyond graph, symbols, mesh and machine
};

namespace field_list {

// of: the uses of the member, in the struct of flags that belongs to the list (FieldUses for a design).
template <auto of, class Spec, class T>
struct Field {
  static constexpr auto uses = of;
  const char* name;
  T Spec::*member;
};
template <auto uses, class Spec, class T>
constexpr Field<uses, Spec, T> field(const char* name, T Spec::*member) {
  return {name, member};
}
// A member with a list of its own.
template <class Spec, class T>
struct FieldGroup {
  T Spec::*member;
};
template <class Spec, class T>
constexpr FieldGroup<Spec, T> group(T Spec::*member) {
  return {member};
}

// The rows of a type; specialized for every type with a list.
template <class Spec>
inline constexpr std::tuple<> kFields{};

inline constexpr FieldUses kNothing{};      // a label
inline constexpr FieldUses kCampaign{};     // price, energy and the length of a training run
inline constexpr FieldUses kStepSeconds{};  // only seconds of a step, which designs do not share
inline constexpr FieldUses kPlan{.bound_plan = true};
inline constexpr FieldUses kSchedule{.bound_plan = true, .schedule = true};
inline constexpr FieldUses kSyncPlan{.bound_plan = true, .sync_plan = true};
inline constexpr FieldUses kLayerSeconds{.layer_seconds = true};
inline constexpr FieldUses kPlanAndLayers{.bound_plan = true, .layer_seconds = true};

// One field for each size of the model.
inline constexpr auto kModelFields = []<size_t... row>(std::index_sequence<row...>) {
  return std::tuple{field<kPlan>(kModelSizes[row].id, kModelSizes[row].member)...};
}
(std::make_index_sequence<kModelSizes.size()>());

template <>
inline constexpr auto kFields<ModelSpec> =
    std::tuple_cat(std::tuple{field<kNothing>("preset", &ModelSpec::preset),
                              field<kPlan>("architecture", &ModelSpec::architecture)},
                   kModelFields,
                   std::tuple{field<kPlan>("tied_embeddings", &ModelSpec::tied_embeddings),
                              field<kPlan>("layer_pattern", &ModelSpec::layer_pattern),
                              field<kPlan>("variants", &ModelSpec::variants),
                              field<kPlan>("weight_formats", &ModelSpec::weight_formats)});

template <>
inline constexpr auto kFields<ZeroLimits> = std::tuple{
    field<kSyncPlan>("reduce_bucket_size", &ZeroLimits::reduce_bucket_size),
    field<kSyncPlan>("allgather_bucket_size", &ZeroLimits::allgather_bucket_size),
    field<kSyncPlan>("prefetch_bucket_size", &ZeroLimits::prefetch_bucket_size),
    field<kSyncPlan>("param_persistence_threshold", &ZeroLimits::param_persistence_threshold),
    field<kSyncPlan>("max_live_parameters", &ZeroLimits::max_live_parameters),
    field<kSyncPlan>("max_reuse_distance", &ZeroLimits::max_reuse_distance)};

template <>
inline constexpr auto kFields<PassPlan> = std::tuple{
    field<kSchedule>("times", &PassPlan::times),
    field<kSchedule>("most_in_flight", &PassPlan::most_in_flight),
    field<kSchedule>("waiting_percent", &PassPlan::waiting_percent)};

// Fields that only choose another schedule are no uses of kSchedule: schedule_key() reads schedule_of().
template <>
inline constexpr auto kFields<ParallelSpec> = std::tuple{
    field<kPlan>("tp", &ParallelSpec::tp),
    field<kSchedule>("pp", &ParallelSpec::pp),
    field<kPlan>("dp", &ParallelSpec::dp),
    field<kPlan>("cp", &ParallelSpec::cp),
    field<kPlan>("ep", &ParallelSpec::ep),
    field<kPlan>("etp", &ParallelSpec::etp),
    field<kPlan>("dispatcher", &ParallelSpec::dispatcher),
    field<kLayerSeconds>("dispatch_sms", &ParallelSpec::dispatch_sms),
    field<kPlan>("sequence_parallel", &ParallelSpec::sequence_parallel),
    field<kPlan>("context", &ParallelSpec::context),
    field<kPlan>("ulysses_degree", &ParallelSpec::ulysses_degree),
    field<kPlan>("dcp", &ParallelSpec::dcp),
    field<kSchedule>("schedule", &ParallelSpec::schedule),
    field<kPlan>("stage_layers", &ParallelSpec::stage_layers),
    field<kPlan>("account_for_embedding_in_pipeline_split",
                 &ParallelSpec::account_for_embedding_in_pipeline_split),
    field<kPlan>("account_for_loss_in_pipeline_split", &ParallelSpec::account_for_loss_in_pipeline_split),
    field<kPlan>("order", &ParallelSpec::order),
    field<kSchedule>("virtual_stages", &ParallelSpec::virtual_stages),
    field<kPlan>("forwards_first", &ParallelSpec::forwards_first),
    field<kPlan>("forward_only", &ParallelSpec::forward_only),
    field<kSchedule>("microbatch_group", &ParallelSpec::microbatch_group),
    group(&ParallelSpec::passes),
    field<kPlan>("scatter_gather_pipeline", &ParallelSpec::scatter_gather_pipeline),
    field<kPlan>("sync", &ParallelSpec::sync),
    field<kPlan>("overlap_grad_reduce", &ParallelSpec::overlap_grad_reduce),
    field<kStepSeconds>("overlap_param_gather", &ParallelSpec::overlap_param_gather),
    field<kPlan>("ep_comm_overlap", &ParallelSpec::ep_comm_overlap),
    field<kPlanAndLayers>("shared_expert_overlap", &ParallelSpec::shared_expert_overlap),
    field<kLayerSeconds>("tp_comm_overlap", &ParallelSpec::tp_comm_overlap),
    field<kLayerSeconds>("tp_comm_overlap_rs_dgrad", &ParallelSpec::tp_comm_overlap_rs_dgrad),
    field<kPlan>("dp_shard", &ParallelSpec::dp_shard),
    field<kPlan>("reshard_after_forward", &ParallelSpec::reshard_after_forward),
    field<kPlan>("reshard_after_backward", &ParallelSpec::reshard_after_backward),
    field<kPlan>("reduce_every_microbatch", &ParallelSpec::reduce_every_microbatch),
    field<kSyncPlan>("ddp_bucket_size", &ParallelSpec::ddp_bucket_size),
    field<kSyncPlan>("bucket_cap_mb", &ParallelSpec::bucket_cap_mb),
    field<kSyncPlan>("first_bucket_mb", &ParallelSpec::first_bucket_mb),
    group(&ParallelSpec::zero),
    field<kPlan>("clip_grad_norm", &ParallelSpec::clip_grad_norm),
    field<kPlan>("average_loss", &ParallelSpec::average_loss)};

template <>
inline constexpr auto kFields<BatchRamp> = std::tuple{
    field<kCampaign>("batch_ramp_start", &BatchRamp::start),
    field<kCampaign>("batch_ramp_increment", &BatchRamp::increment),
    field<kCampaign>("batch_ramp_samples", &BatchRamp::samples)};

template <>
inline constexpr auto kFields<WorkloadSpec> = std::tuple{
    field<kPlan>("mode", &WorkloadSpec::mode),
    field<kPlan>("seq", &WorkloadSpec::seq),
    field<kPlan>("batch", &WorkloadSpec::batch),
    field<kPlan>("microbatch", &WorkloadSpec::microbatch),
    field<kPlan>("packed_length", &WorkloadSpec::packed_length),
    field<kPlan>("context_length", &WorkloadSpec::context_length),
    field<kPlan>("cached_tokens", &WorkloadSpec::cached_tokens),
    field<kPlan>("draft_module", &WorkloadSpec::draft_module),
    field<kPlan>("kv_cache_dtype", &WorkloadSpec::kv_cache_dtype),
    field<kPlan>("ssm_state_dtype", &WorkloadSpec::ssm_state_dtype),
    field<kPlan>("dtype", &WorkloadSpec::dtype),
    field<kPlan>("grad_dtype", &WorkloadSpec::grad_dtype),
    field<kPlan>("compute", &WorkloadSpec::compute),
    field<kPlan>("dispatch_dtype", &WorkloadSpec::dispatch_dtype),
    field<kPlan>("fp8_params", &WorkloadSpec::fp8_params),
    field<kPlan>("transposed_weights", &WorkloadSpec::transposed_weights),
    field<kPlan>("activation_cache", &WorkloadSpec::activation_cache),
    field<kPlan>("master_weights", &WorkloadSpec::master_weights),
    field<kPlan>("optimizer", &WorkloadSpec::optimizer),
    field<kPlan>("moment_dtype", &WorkloadSpec::moment_dtype),
    field<kPlan>("lora_rank", &WorkloadSpec::lora_rank),
    field<kPlan>("lora_modules", &WorkloadSpec::lora_modules),
    field<kPlan>("lora_dropout", &WorkloadSpec::lora_dropout),
    field<kPlan>("lora_packed", &WorkloadSpec::lora_packed),
    field<kPlan>("frozen_dtype", &WorkloadSpec::frozen_dtype),
    field<kPlan>("fp8_attention", &WorkloadSpec::fp8_attention),
    field<kPlan>("vocab_multiple", &WorkloadSpec::vocab_multiple),
    field<kPlan>("profile", &WorkloadSpec::profile),
    field<kPlan>("recompute", &WorkloadSpec::recompute),
    field<kPlan>("recompute_modules", &WorkloadSpec::recompute_modules),
    field<kPlan>("recompute_method", &WorkloadSpec::recompute_method),
    field<kPlan>("recompute_num_layers", &WorkloadSpec::recompute_num_layers),
    field<kPlan>("offload_optimizer", &WorkloadSpec::offload_optimizer),
    field<kPlan>("optimizer_offload_fraction", &WorkloadSpec::optimizer_offload_fraction),
    field<kPlan>("offload_activations", &WorkloadSpec::offload_activations),
    field<kPlan>("distribute_saved_activations", &WorkloadSpec::distribute_saved_activations),
    field<kPlan>("gathered_logits", &WorkloadSpec::gathered_logits),
    field<kPlan>("dropout", &WorkloadSpec::dropout),
    field<kPlan>("gradient_accumulation_fusion", &WorkloadSpec::gradient_accumulation_fusion),
    field<kPlanAndLayers>("cuda_graphs", &WorkloadSpec::cuda_graphs),
    field<kPlan>("cublas_workspace", &WorkloadSpec::cublas_workspace),
    field<kPlan>("capacity_factor", &WorkloadSpec::capacity_factor),
    field<kPlan>("load_imbalance", &WorkloadSpec::load_imbalance),
    field<kPlan>("pad_to_capacity", &WorkloadSpec::pad_to_capacity),
    field<kPlan>("images", &WorkloadSpec::images),
    field<kPlan>("image_size", &WorkloadSpec::image_size),
    field<kPlan>("frames", &WorkloadSpec::frames),
    field<kPlan>("vision_training", &WorkloadSpec::vision_training),
    field<kPlan>("vision_parallel", &WorkloadSpec::vision_parallel),
    field<kPlan>("vision_stage", &WorkloadSpec::vision_stage),
    field<kPlan>("vision_recompute", &WorkloadSpec::vision_recompute),
    field<kCampaign>("tokens", &WorkloadSpec::tokens),
    field<kCampaign>("checkpoint_interval", &WorkloadSpec::checkpoint_interval),
    group(&WorkloadSpec::ramp)};

template <>
inline constexpr auto kFields<ClusterSpec> = std::tuple{
    field<kPlan>("accelerator", &ClusterSpec::accelerator),
    field<kPlan>("peak_tflops", &ClusterSpec::peak_tflops),
    field<kPlan>("memory_capacity", &ClusterSpec::memory_capacity),
    field<kPlan>("memory_bandwidth", &ClusterSpec::memory_bandwidth),
    field<kPlan>("gpus_per_node", &ClusterSpec::gpus_per_node),
    field<kPlan>("network", &ClusterSpec::network),
    field<kPlan>("scaleup_domain", &ClusterSpec::scaleup_domain),
    field<kStepSeconds>("scaleup_bandwidth", &ClusterSpec::scaleup_bandwidth),
    field<kStepSeconds>("nic_bandwidth", &ClusterSpec::nic_bandwidth),
    field<kStepSeconds>("scaleup_latency", &ClusterSpec::scaleup_latency),
    field<kStepSeconds>("network_latency", &ClusterSpec::network_latency),
    field<kStepSeconds>("spine_latency", &ClusterSpec::spine_latency),
    field<kStepSeconds>("rails", &ClusterSpec::rails),
    field<kStepSeconds>("oversubscription", &ClusterSpec::oversubscription),
    field<kPlan>("pod_size", &ClusterSpec::pod_size),
    field<kStepSeconds>("in_network_reduction", &ClusterSpec::in_network_reduction),
    field<kStepSeconds>("collective_algorithm", &ClusterSpec::collective_algorithm),
    field<kStepSeconds>("tp_max_ctas", &ClusterSpec::tp_max_ctas),
    field<kStepSeconds>("cp_max_ctas", &ClusterSpec::cp_max_ctas),
    field<kStepSeconds>("dp_max_ctas", &ClusterSpec::dp_max_ctas),
    field<kStepSeconds>("compute_jitter", &ClusterSpec::compute_jitter),
    field<kStepSeconds>("straggler_slowdown", &ClusterSpec::straggler_slowdown),
    field<kCampaign>("price_per_hour", &ClusterSpec::price_per_hour),
    field<kCampaign>("board_power", &ClusterSpec::board_power),
    field<kCampaign>("host_power", &ClusterSpec::host_power),
    field<kCampaign>("pue", &ClusterSpec::pue),
    field<kCampaign>("failure_rate", &ClusterSpec::failure_rate),
    field<kCampaign>("restart_time", &ClusterSpec::restart_time),
    field<kCampaign>("checkpoint_bandwidth", &ClusterSpec::checkpoint_bandwidth)};

template <>
inline constexpr auto kFields<Design> = std::tuple{field<kNothing>("name", &Design::name),
                                                   group(&Design::model), group(&Design::parallel),
                                                   group(&Design::workload), group(&Design::cluster)};

}  // namespace field_list

// Stands for one initial value of any type.
struct AnyValue {
  template <class T>
  operator T() const;
};
// Number of members of an aggregate: the most initial values that it accepts.
template <class Spec, class... Values>
consteval size_t member_count() {
  if constexpr (requires { Spec{Values{}..., AnyValue{}}; })
    return member_count<Spec, Values..., AnyValue>();
  else
    return sizeof...(Values);
}

// Calls visit(field, value...) for every field, those of groups included. values: the field in each spec.
template <class Visit, class Spec, class... Specs>
void visit_fields(const Visit& visit, Spec& spec, Specs&... others) {
  using Type = std::remove_const_t<Spec>;
  constexpr auto& rows = field_list::kFields<Type>;
  static_assert(std::tuple_size_v<std::remove_cvref_t<decltype(rows)>> == member_count<Type>(),
                "every member needs a row in kFields");
  const auto at = [&](const auto& row) {
    if constexpr (requires { row.uses; })
      visit(row, spec.*row.member, others.*row.member...);
    else
      visit_fields(visit, spec.*row.member, others.*row.member...);
  };
  std::apply([&](const auto&... row) { (at(row), ...); }, rows);
}

inline void add_to(CacheKey& key, const WeightFormats& formats) {
  key.add(static_cast<int64_t>(formats.size()));
  for (const auto& [role, format] : formats) {
    key.add(static_cast<int64_t>(role));
    key.add(static_cast<int64_t>(format));
  }
}

inline void add_to(CacheKey& key, const LayerVariant& variant) {
  key.add(std::string_view(variant.name));
  key.add(std::string_view(variant.kind));
  key.add(static_cast<int64_t>(variant.sizes.size()));
  for (const auto& [row, value] : variant.sizes) {
    key.add(int64_t{row});
    key.add(value);
  }
  add_to(key, variant.formats);
}

template <class T>
void add_value(CacheKey& key, const T& value) {
  if constexpr (requires { add_to(key, value); }) {
    add_to(key, value);
  } else if constexpr (requires { value.data(); } && !std::is_same_v<T, std::string>) {
    key.add(static_cast<int64_t>(value.size()));
    for (const auto& entry : value) add_value(key, entry);
  } else if constexpr (std::is_same_v<T, std::string>) {
    key.add(std::string_view(value));
  } else if constexpr (std::is_same_v<T, RecomputeModules> || std::is_same_v<T, LoraModules>) {
    key.add(int64_t{value.bits});
  } else {
    static_assert(std::is_integral_v<T> || std::is_enum_v<T>);
    key.add(static_cast<int64_t>(value));
  }
}

template <auto use, class Row>
inline constexpr bool kHasUse = std::remove_cvref_t<Row>::uses.*use;

// Adds the fields with this use, as in add_fields<&FieldUses::schedule>(key, parallel).
template <auto use, class Spec>
void add_fields(CacheKey& key, const Spec& spec) {
  visit_fields(
      [&](const auto& field, const auto& value) {
        if constexpr (kHasUse<use, decltype(field)>) add_value(key, value);
      },
      spec);
}
// Whether all fields with this use are equal.
template <auto use, class Spec>
bool same_fields(const Spec& a, const Spec& b) {
  bool same = true;
  visit_fields(
      [&](const auto& field, const auto& mine, const auto& other) {
        if constexpr (kHasUse<use, decltype(field)>) same = same && mine == other;
      },
      a, b);
  return same;
}
// Copies the fields with this use.
template <auto use, class Spec>
void copy_fields(const Spec& from, Spec& to) {
  visit_fields(
      [&](const auto& field, const auto& value, auto& out) {
        if constexpr (kHasUse<use, decltype(field)>) out = value;
      },
      from, to);
}

}  // namespace shardscape
