// The rows of the knob table.
#include <algorithm>
#include <iterator>

#include "machine/accelerator.h"
#include "machine/network_catalogue.h"
#include "design/knob_access.h"
#include "design/limits.h"
#include "model/library.h"

namespace shardscape {
namespace {

// Access to a plain member: &Design::parallel, &ParallelSpec::tp.
template <auto Spec, auto Field>
constexpr KnobAccess member() {
  return {[](const Design& d) {
            using T = std::decay_t<decltype((d.*Spec).*Field)>;
            return KnobValue(std::in_place_type<T>, (d.*Spec).*Field);
          },
          [](Design& d, const KnobValue& value) {
            using T = std::decay_t<decltype((d.*Spec).*Field)>;
            (d.*Spec).*Field = std::get<T>(value);
          }};
}

// Access to an enum whose values have names in a table.
template <class T>
struct Named {
  T value;
  const char* name;
  const char* label;
};
inline constexpr Named<DType> kDtypes[] = {
    {DType::BF16, "bf16", "bfloat16"}, {DType::FP16, "fp16", "float16"}, {DType::FP32, "fp32", "float32"}};
inline constexpr Named<DType> kGradDtypes[] = {
    {DType::FP32, "fp32", "float32"}, {DType::BF16, "bf16", "bfloat16"}, {DType::FP16, "fp16", "float16"}};
inline constexpr Named<DType> kMomentDtypes[] = {
    {DType::FP32, "fp32", "float32"}, {DType::BF16, "bf16", "bfloat16"}, {DType::FP16, "fp16", "float16"}, {DType::FP8, "fp8", "float8"}};
inline constexpr Named<ComputePrecision> kComputes[] = {{ComputePrecision::Storage, "storage", "As stored"},
                                                        {ComputePrecision::FP8, "fp8", "FP8, a scale per tensor"},
                                                        {ComputePrecision::FP8Block, "fp8-blockwise", "FP8, blocks of 128"},
                                                        {ComputePrecision::MXFP8, "mxfp8", "MXFP8, blocks of 32"},
                                                        {ComputePrecision::NVFP4, "nvfp4", "NVFP4, blocks of 16"}};
inline constexpr Named<DispatchPrecision> kDispatchDtypes[] = {{DispatchPrecision::Same, "same", "As the activations"},
                                                               {DispatchPrecision::FP8, "fp8", "FP8"}};
inline constexpr Named<Recompute> kRecompute[] = {
    {Recompute::None, "none", "None"}, {Recompute::Selective, "selective", "Selective (modules)"}, {Recompute::Full, "full", "Full"}};
inline constexpr Named<RecomputeMethod> kRecomputeMethods[] = {{RecomputeMethod::Uniform, "uniform", "Uniform (groups of layers)"},
                                                                {RecomputeMethod::Block, "block", "Block (first layers of a stage)"}};
inline constexpr Named<ContextMode> kContextModes[] = {{ContextMode::AllGather, "all-gather", "All-gather K, V"},
                                                       {ContextMode::Ring, "ring", "Ring"},
                                                       {ContextMode::Zigzag, "zigzag", "Zigzag ring (balanced)"},
                                                       {ContextMode::Ulysses, "ulysses", "Ulysses"},
                                                       {ContextMode::UlyssesRing, "ulysses-ring", "Ulysses inside ring"},
                                                       {ContextMode::UlyssesZigzag, "ulysses-zigzag", "Ulysses inside zigzag ring"}};
inline constexpr Named<Dispatcher> kDispatchers[] = {{Dispatcher::AllToAll, "alltoall", "All-to-all"},
                                                     {Dispatcher::AllToAllSeq, "alltoall_seq", "All-to-all, tokens split by hidden"},
                                                     {Dispatcher::AllGather, "allgather", "All-gather"},
                                                     {Dispatcher::Flex, "flex", "Once per node (DeepEP)"}};
inline constexpr Named<ScheduleKind> kSchedules[] = {{ScheduleKind::OneFOneB, "1f1b", "1F1B"},
                                                     {ScheduleKind::GPipe, "gpipe", "GPipe"},
                                                     {ScheduleKind::Flexible, "flexible", "Flexible interleaving (Llama 3)"},
                                                     {ScheduleKind::ZbH1, "zb-h1", "ZB-H1"},
                                                     {ScheduleKind::ZbH2, "zb-h2", "ZB-H2"},
                                                     {ScheduleKind::ZbV, "zb-v", "ZB-V"},
                                                     {ScheduleKind::DualPipe, "dualpipe", "DualPipe"},
                                                     {ScheduleKind::DualPipeV, "dualpipe-v", "DualPipeV"}};

inline constexpr Named<InNetworkReduction> kInNetwork[] = {{InNetworkReduction::Auto, "auto", "As the network offers"},
                                                           {InNetworkReduction::None, "none", "None"},
                                                           {InNetworkReduction::Nvls, "nvls", "Inside domains (NVLink SHARP)"},
                                                           {InNetworkReduction::Sharp, "sharp", "Inside and between (SHARP)"}};
inline constexpr Named<CollectiveAlgorithm> kAlgorithms[] = {{CollectiveAlgorithm::Auto, "auto", "Fastest (as NCCL chooses)"},
                                                             {CollectiveAlgorithm::Ring, "ring", "Ring"},
                                                             {CollectiveAlgorithm::Tree, "tree", "Double binary tree"},
                                                             {CollectiveAlgorithm::HalvingDoubling, "halving-doubling", "Recursive halving and doubling"},
                                                             {CollectiveAlgorithm::Hierarchical, "hierarchical", "Hierarchical"},
                                                             {CollectiveAlgorithm::InNetwork, "in-network", "In the network"},
                                                             {CollectiveAlgorithm::Direct, "direct", "Direct"}};
inline constexpr Named<SyncStrategy> kSyncStrategies[] = {
    {SyncStrategy::DdpFlat, "ddp-flat", "All-reduce (Megatron DDP)"},
    {SyncStrategy::DdpBuckets, "ddp-buckets", "All-reduce in buckets (PyTorch DDP)"},
    {SyncStrategy::DistributedOptimizer, "distributed-optimizer", "Distributed optimizer (Megatron, ZeRO-1)"},
    {SyncStrategy::Zero0, "zero-0", "ZeRO stage 0 (DeepSpeed)"},
    {SyncStrategy::Zero1, "zero-1", "ZeRO stage 1 (DeepSpeed)"},
    {SyncStrategy::Zero2, "zero-2", "ZeRO stage 2 (DeepSpeed)"},
    {SyncStrategy::Zero3, "zero-3", "ZeRO stage 3 (DeepSpeed)"},
    {SyncStrategy::Fsdp1, "fsdp1", "FSDP, flat units (PyTorch)"},
    {SyncStrategy::Fsdp2, "fsdp2", "FSDP2, per parameter (PyTorch)"}};

// One of DeepSpeed's limits.
template <auto Field>
constexpr KnobAccess zero_limit() {
  return {[](const Design& d) { return KnobValue(std::in_place_type<int64_t>, d.parallel.zero.*Field); },
          [](Design& d, const KnobValue& value) { d.parallel.zero.*Field = std::get<int64_t>(value); }};
}

template <auto Spec, auto Field, auto& Names>
constexpr KnobAccess named() {
  return {[](const Design& d) {
            for (const auto& entry : Names) {
              if (entry.value == (d.*Spec).*Field) return KnobValue(std::string(entry.name));
            }
            return KnobValue(std::string());  // a value that is not offered: validation says so
          },
          [](Design& d, const KnobValue& value) {
            for (const auto& entry : Names) {
              if (entry.name == std::get<std::string>(value)) (d.*Spec).*Field = entry.value;
            }
          }};
}

template <class Names>
std::vector<KnobChoice> choices_of(const Names& names) {
  std::vector<KnobChoice> choices;
  for (const auto& entry : names) choices.push_back({entry.name, entry.label});
  return choices;
}

constexpr KnobAccess kRankOrder{[](const Design& d) { return KnobValue(to_string(d.parallel.order)); },
                                [](Design& d, const KnobValue& value) {
                                  parse_rank_order(std::get<std::string>(value), d.parallel.order);
                                }};

constexpr KnobAccess kRecomputeModules{[](const Design& d) {
                                         std::vector<std::string> names;
                                         for (int i = 0; i < kRecomputeModuleCount; ++i)
                                           if (const auto module = static_cast<RecomputeModule>(i); d.workload.recompute_modules.has(module))
                                             names.emplace_back(recompute_module_name(module));
                                         return KnobValue(std::move(names));
                                       },
                                       [](Design& d, const KnobValue& value) {
                                         d.workload.recompute_modules = {};
                                         for (const std::string& name : std::get<std::vector<std::string>>(value))
                                           if (const auto module = recompute_module_from_name(name)) d.workload.recompute_modules.add(*module);
                                       }};

std::vector<KnobChoice> recompute_module_choices() {
  std::vector<KnobChoice> choices;
  for (int i = 0; i < kRecomputeModuleCount; ++i) {
    const auto module = static_cast<RecomputeModule>(i);
    choices.push_back({std::string(recompute_module_name(module)), std::string(recompute_module_label(module))});
  }
  return choices;
}

// The default first, the others by name.
std::vector<KnobChoice> rank_orders() {
  const RankOrder usual;
  std::vector<KnobChoice> choices{{to_string(usual), to_string(usual) + " (default)"}};
  RankOrder order{{MeshAxis::Pp, MeshAxis::Dp, MeshAxis::Cp, MeshAxis::Tp}};
  do {
    if (order != usual) choices.push_back({to_string(order), to_string(order)});
  } while (std::next_permutation(order.fastest_first.begin(), order.fastest_first.end()));
  std::sort(choices.begin() + 1, choices.end(), [](const auto& a, const auto& b) { return a.value < b.value; });
  return choices;
}

std::vector<KnobChoice> profiles() {
  std::vector<KnobChoice> choices;
  for (const KernelProfile& profile : ModelLibrary::instance().profiles()) choices.push_back({profile.id, profile.label});
  return choices;
}

std::vector<KnobChoice> accelerator_choices() {
  std::vector<KnobChoice> choices;
  for (const Accelerator& item : accelerators()) choices.push_back({item.id, item.name});
  return choices;
}

std::vector<KnobChoice> network_choices() {
  std::vector<KnobChoice> choices{{"auto", "Usual one of the accelerator"}};
  for (const NetworkEntry& item : networks()) choices.push_back({item.id, item.name});
  return choices;
}

class TableWriter {
 public:
  explicit TableWriter(KnobTable& table) : table_(table) {}
  void group(KnobGroup group) { group_ = group; }
  void section(std::string name, bool rare = false) {
    section_ = std::move(name);
    rare_ = rare;
  }

  void number(KnobAccess access, std::string id, std::string label, std::string symbol, std::string unit, int64_t min,
              int64_t max, std::string help) {
    Knob& knob = add(access, KnobType::Integer, std::move(id), std::move(label), std::move(symbol), std::move(help));
    knob.unit = std::move(unit);
    knob.min = min;
    knob.max = max;
  }
  // Bounds in thousandths.
  void decimal(KnobAccess access, std::string id, std::string label, int64_t min, int64_t max, std::string help) {
    Knob& knob = add(access, KnobType::Decimal, std::move(id), std::move(label), "", std::move(help));
    knob.min = min;
    knob.max = max;
  }
  void flag(KnobAccess access, std::string id, std::string label, std::string help) {
    add(access, KnobType::Boolean, std::move(id), std::move(label), "", std::move(help));
  }
  void choice(KnobAccess access, std::string id, std::string label, std::vector<KnobChoice> choices, std::string help) {
    add(access, KnobType::Choice, std::move(id), std::move(label), "", std::move(help)).choices = std::move(choices);
  }
  void choices(KnobAccess access, std::string id, std::string label, std::vector<KnobChoice> choices, std::string help) {
    add(access, KnobType::ChoiceList, std::move(id), std::move(label), "", std::move(help)).choices = std::move(choices);
  }
  void list(KnobAccess access, std::string id, std::string label, std::string unit, int64_t min, int64_t max,
            std::string help) {
    Knob& knob = add(access, KnobType::IntegerList, std::move(id), std::move(label), "", std::move(help));
    knob.unit = std::move(unit);
    knob.min = min;
    knob.max = max;
  }

 private:
  Knob& add(KnobAccess access, KnobType type, std::string id, std::string label, std::string symbol, std::string help) {
    Knob knob;
    knob.id = std::move(id);
    knob.group = group_;
    knob.section = section_;
    knob.rare = rare_;
    knob.type = type;
    knob.label = std::move(label);
    knob.symbol = std::move(symbol);
    knob.help = std::move(help);
    table_.access.push_back(access);
    return table_.knobs.emplace_back(std::move(knob));
  }

  KnobTable& table_;
  KnobGroup group_ = KnobGroup::Model;
  std::string section_;
  bool rare_ = false;
};

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
  table.number(member<model, &M::kv_heads>(), "kv_heads", "KV heads", "G", "", 0, kMaxHeads,
               "Key and value heads, each shared by heads / kv_heads query heads: equal to heads is multi-head, 1 is "
               "multi-query attention. With fewer KV heads than tp, each one is kept on tp / kv_heads ranks.");
  table.number(member<model, &M::head_dim>(), "head_dim", "Head size", "E", "", 0, kMaxHeadDim,
               "Width of one attention head. The score and context products cost 4 S^2 H E FLOPs per sequence and layer "
               "before masking.");
  table.section("MLP");
  table.number(member<model, &M::ffn>(), "ffn", "FFN size", "F", "", 0, kMaxFfn,
               "Inner width of the MLP; in a gated MLP the width of the gate and of the up projection each. Tensor "
               "parallelism splits it.");
  table.section("Experts");
  table.number(member<model, &M::experts>(), "experts", "Experts", "X", "", 0, kMaxExperts,
               "Routed experts of a mixture-of-experts layer. Parameters grow with it, FLOPs do not. 0 in dense models.");
  table.number(member<model, &M::experts_per_token>(), "experts_per_token", "Experts per token", "K", "", 0, kMaxExperts,
               "Experts that the router picks for every token (top-k). FLOPs and the volume of dispatch and combine grow "
               "with it.");
  table.number(member<model, &M::expert_groups>(), "expert_groups", "Expert groups", "", "groups", 1, kMaxExperts,
               "Group-limited routing (n_group; Megatron --moe-router-num-groups): experts in so many equal groups, of which a token "
               "picks a few and its experts from these. As many groups as nodes limit the nodes that a token is sent to, which "
               "matters where it is sent once per node (dispatcher flex). 1 is no limit.");
  table.number(member<model, &M::groups_per_token>(), "groups_per_token", "Groups per token", "", "groups", 1, kMaxExperts,
               "Groups that a token may pick experts from (topk_group; Megatron --moe-router-group-topk): 4 of 8 in DeepSeek-V3, 3 of "
               "8 in DeepSeek-V2. As many as there are is no limit.");
  table.number(member<model, &M::expert_ffn>(), "expert_ffn", "Expert FFN size", "Fx", "", 0, kMaxFfn,
               "Inner width of one expert's gated MLP. Expert tensor parallelism splits it.");
  table.number(member<model, &M::shared_experts>(), "shared_experts", "Shared experts", "", "", 0, kMaxSharedExperts,
               "Experts that every token goes through beside the routed ones, each as wide as those. They run as one MLP that "
               "tensor parallelism splits.");
  table.number(member<model, &M::dense_layers>(), "dense_layers", "Dense layers first", "", "layers", 0, kMaxLayers,
               "Layers at the start of the model that have a dense MLP of the FFN size instead of experts, as 3 in DeepSeek-V3.");
  table.section("Embeddings");
  table.number(member<model, &M::vocab>(), "vocab", "Vocabulary", "V", "entries", 1, kMaxVocab,
               "Entries of the tokenizer, before padding. Embedding and head hold V x D each unless tied; the logits of "
               "the last stage can set its memory peak.");
  table.number(member<model, &M::positions>(), "positions", "Learned positions", "Smax", "tokens", 0, kMaxSeq,
               "Rows of the learned position table, the longest sequence such a model can take. 0 for models with "
               "rotary positions, which have no table.");
  table.section("Latent attention");
  table.number(member<model, &M::q_rank>(), "q_rank", "Query rank", "Rq", "", 0, kMaxHidden,
               "Of latent attention: width to which queries are compressed before their heads are made. 0 projects them from "
               "the residual stream, as in DeepSeek-V2-Lite.");
  table.number(member<model, &M::kv_rank>(), "kv_rank", "KV rank", "Rkv", "", 0, kMaxHidden,
               "Of latent attention: width of the latent from which the keys and values of all heads are made. Inference "
               "caches it and the shared rotated key instead of all heads. 0 where attention is not latent.");
  table.number(member<model, &M::nope_head_dim>(), "nope_head_dim", "Plain head size", "En", "", 0, kMaxHeadDim,
               "Of latent attention: the part of a query's and key's head that is not rotated.");
  table.number(member<model, &M::rope_head_dim>(), "rope_head_dim", "Rotated head size", "Er", "", 0, kMaxHeadDim,
               "Of latent attention: the rotated part of a query's and key's head. The key's is shared by all heads.");
  table.number(member<model, &M::value_head_dim>(), "value_head_dim", "Value head size", "Ev", "", 0, kMaxHeadDim,
               "Of latent attention: width of a value's head. The score and context products cost 2 S^2 H (En + Er + Ev) FLOPs "
               "per sequence and layer before masking.");
  table.section("Multi-token prediction");
  table.number(member<model, &M::mtp_layers>(), "mtp_layers", "MTP depths", "", "", 0, kMaxMtpLayers,
               "Modules that each predict one token further ahead: two norms, a projection and a layer on the last stage, which "
               "share embedding and head with the model. The published size of DeepSeek-V3 is without its one module.");
  table.section("Attention");
  table.number(member<model, &M::window>(), "window", "Sliding window", "W", "tokens", 0, kMaxSeq,
               "Tokens that the sliding attention layers of Mistral, Gemma 2 and gpt-oss look back on, the query's own included. 0 "
               "lets them see the whole sequence. Changes the useful FLOPs; kernels are counted without any mask.");
  table.section("State space");
  table.number(member<model, &M::ssm_state>(), "ssm_state", "SSM state", "N", "", 0, kMaxSsmState,
               "State-space mixers (Mamba): numbers that each channel remembers. B and C, which write and read the state, have as "
               "many entries per token. 0 for models without such mixers.");
  table.number(member<model, &M::ssm_conv>(), "ssm_conv", "SSM convolution", "Kw", "tokens", 0, kMaxSsmFactor,
               "State-space mixers: tokens that the causal convolution before the scan sees, the own one included.");
  table.number(member<model, &M::ssm_expand>(), "ssm_expand", "SSM expansion", "e", "", 0, kMaxSsmFactor,
               "State-space mixers: channels of the scan per hidden size, so that e D channels are projected, scanned and "
               "gated. Tensor parallelism splits them.");
  table.number(member<model, &M::ssm_dt_rank>(), "ssm_dt_rank", "SSM step rank", "Rd", "", 0, kMaxHidden,
               "Mamba-1: rank of the projection that makes the step size of every channel, usually hidden / 16.");
  table.number(member<model, &M::ssm_head_dim>(), "ssm_head_dim", "SSM head size", "P", "", 0, kMaxHeadDim,
               "Mamba-2: channels that share one step size and one decay. There are e D / P heads.");
  table.number(member<model, &M::ssm_groups>(), "ssm_groups", "SSM groups", "Gs", "", 0, kMaxHeads,
               "Mamba-2: groups of heads that share B and C, and that are normalised together. Tensor parallelism gives each "
               "rank whole groups, so tp has to divide them.");
  table.number(member<model, &M::ssm_chunk>(), "ssm_chunk", "SSM chunk", "Q", "tokens", 0, kMaxSeq,
               "Mamba-2: tokens that the scan takes at once as matrix products. Larger chunks cost more FLOPs inside them and "
               "fewer passes of state between them.");
  table.section("Embeddings");
  table.flag(member<model, &M::tied_embeddings>(), "tied_embeddings", "Tied embeddings",
             "Input embedding and output projection share one matrix. With pipeline stages the first and the last both "
             "hold it and reduce its gradient between them every step.");
}

void add_sync(TableWriter& table) {
  using P = ParallelSpec;
  using Z = ZeroLimits;
  constexpr auto parallel = &Design::parallel;
  table.section("Sharding");
  table.number(member<parallel, &P::dp_shard>(), "dp_shard", "Sharding group", "ds", "replicas", 0, kMaxWorld,
               "Hybrid sharding of fsdp1, fsdp2 and distributed-optimizer: states are sharded inside groups of this many replicas and "
               "replicated across them. Gradients are reduce-scattered inside (over fast links) and their shards all-reduced across. "
               "Megatron counts the groups: num-distributed-optimizer-instances is dp / ds. 0 shards over all replicas.");
  table.flag(member<parallel, &P::reshard_after_forward>(), "reshard_after_forward", "Reshard after forward",
             "Of fsdp1 and fsdp2: units are freed after their forward and gathered again for the backward (FULL_SHARD). Off "
             "keeps them whole until then (SHARD_GRAD_OP): fewer gathers, memory for all parameters of the stage.");
  table.section("Gradient sync");
  table.flag(member<parallel, &P::reduce_every_microbatch>(), "reduce_every_microbatch", "Reduce every microbatch",
             "Of ddp-buckets, fsdp1 and fsdp2: gradients are reduced after the backward of each microbatch, as PyTorch does "
             "without no_sync, instead of once a step. zero-2 and zero-3 always do, Megatron's policies, zero-0 and zero-1 never.");
  table.section("DDP buckets", true);
  table.number(member<parallel, &P::bucket_cap_mb>(), "bucket_cap_mb", "DDP bucket", "", "MB", 1, kMaxBucketMb,
               "Of ddp-buckets: gradients of so many times 2^20 bytes close a bucket, bucket_cap_mb of PyTorch's DDP.");
  table.number(member<parallel, &P::first_bucket_mb>(), "first_bucket_mb", "First DDP bucket", "", "MB", 1, kMaxBucketMb,
               "Of ddp-buckets: size of the first bucket of the backward, small so that reduction starts early.");
  table.section("Gradient sync");
  table.number(member<parallel, &P::ddp_bucket_size>(), "ddp_bucket_size", "Megatron bucket", "", "elements", 0, kMaxBucket,
               "Of ddp-flat and distributed-optimizer with overlap_grad_reduce: elements that close a bucket (ddp-bucket-size). 0 "
               "is Megatron's default, 40 million or a million per replica, whichever is more.");
  table.section("DeepSpeed limits", true);
  table.number(zero_limit<&Z::reduce_bucket_size>(), "zero_reduce_bucket_size", "ZeRO reduce bucket", "", "elements", 1, kMaxBucket,
               "DeepSpeed's reduce_bucket_size: gradients that are reduced at once. zero-2 and zero-3 hold a buffer of this size.");
  table.number(zero_limit<&Z::allgather_bucket_size>(), "zero_allgather_bucket_size", "ZeRO all-gather bucket", "", "elements", 1, kMaxBucket,
               "DeepSpeed's allgather_bucket_size: of zero-0 to zero-2, updated parameters that are gathered at once.");
  table.number(zero_limit<&Z::prefetch_bucket_size>(), "stage3_prefetch_bucket_size", "ZeRO-3 prefetch", "", "elements", 0, kMaxBucket,
               "DeepSpeed's stage3_prefetch_bucket_size: parameters of modules ahead that zero-3 gathers beside the current one. 0 "
               "gathers none ahead.");
  table.number(zero_limit<&Z::param_persistence_threshold>(), "stage3_param_persistence_threshold", "ZeRO-3 persistence", "",
               "elements", 0, kMaxBucket,
               "DeepSpeed's stage3_param_persistence_threshold: smaller parameters stay gathered after their first use in a step.");
  table.number(zero_limit<&Z::max_live_parameters>(), "stage3_max_live_parameters", "ZeRO-3 live parameters", "", "elements", 0, kMaxBucket,
               "DeepSpeed's stage3_max_live_parameters: so many gathered parameters stop the prefetch.");
  table.number(zero_limit<&Z::max_reuse_distance>(), "stage3_max_reuse_distance", "ZeRO-3 reuse distance", "", "elements", 0, kMaxBucket,
               "DeepSpeed's stage3_max_reuse_distance: parameters used again within so many elements of other ones stay gathered.");
  table.section("Gradient sync");
  table.flag(member<parallel, &P::clip_grad_norm>(), "clip_grad_norm", "Clip gradient norm",
             "One more all-reduce before the optimizer: the squared norm of gradients, summed over all ranks that hold different "
             "ones (tensor-parallel ranks, stages, shards). One number.");
  table.flag(member<parallel, &P::average_loss>(), "average_loss", "Average loss",
             "The last stage all-reduces the loss of every microbatch over the replicas, for the log. One number each.");
}

void add_parallelism(TableWriter& table) {
  using P = ParallelSpec;
  constexpr auto parallel = &Design::parallel;
  table.group(KnobGroup::Parallelism);
  table.section("Degrees");
  table.number(member<parallel, &P::tp>(), "tp", "Tensor parallel", "tp", "ranks", 1, kMaxWorld,
               "Splits heads, FFN and vocabulary over ranks. Divides parameters and matrix products, and costs two "
               "all-reduces of b S D per layer in forward and two in backward, on the critical path: keep it inside a node.");
  table.number(member<parallel, &P::pp>(), "pp", "Pipeline parallel", "pp", "stages", 1, kMaxWorld,
               "Splits the layers into stages. Sends only b S D between neighbours, but idles (pp - 1) / (m + pp - 1) "
               "of the time: it wants many microbatches m.");
  table.number(member<parallel, &P::cp>(), "cp", "Context parallel", "cp", "ranks", 1, kMaxWorld,
               "Ranks that share one sequence: each holds seq/cp tokens of every activation. Attention then gathers K and V, "
               "passes them round a ring, or exchanges heads for tokens, in every layer; Mamba-2 mixers exchange tokens for groups or "
               "heads.");
  table.section("Context");
  table.choice(named<parallel, &P::context, kContextModes>(), "context", "Context attention", choices_of(kContextModes),
               "How attention sees the whole sequence under context parallelism. all-gather: of K and V. ring: blocks of K and V "
               "go from rank to rank while the one at hand is worked on; a causal mask leaves the first rank little and the last "
               "one all to do. zigzag: rank i holds blocks i and 2 cp - 1 - i of 2 cp, so that all do equally much. ulysses: "
               "tokens are exchanged for heads by all-to-all, which needs KV heads that tp x cp divides. ulysses-ring and "
               "ulysses-zigzag: all-to-all among neighbours, a ring of such groups.");
  table.number(member<parallel, &P::ulysses_degree>(), "ulysses_degree", "Ulysses degree", "u", "ranks", 0, kMaxWorld,
               "Of ulysses-ring and ulysses-zigzag: neighbours that exchange tokens for heads; cp / u such groups form the ring. 0 "
               "takes as many as the KV heads allow. More of them send less, and over shorter ways.");
  table.section("Degrees");
  table.number(member<parallel, &P::dp>(), "dp", "Data parallel", "dp", "replicas", 1, kMaxWorld,
               "Replicas of the model, each with its share of the batch. All gradients are reduced over them; what "
               "they shard of parameters and optimizer states is up to the gradient sync.");
  table.section("Experts");
  table.number(member<parallel, &P::ep>(), "ep", "Expert parallel", "ep", "ranks", 1, kMaxWorld,
               "Ranks that share the experts of a layer, each holding experts/ep of them. They are taken out of dp x cp (and tp, "
               "where experts have a tensor parallelism of their own), so ep costs no ranks: it divides expert parameters and "
               "turns dispatch and combine into all-to-alls. Expert gradients are reduced over what remains, edp.");
  table.number(member<parallel, &P::etp>(), "etp", "Expert tensor parallel", "etp", "ranks", 0, kMaxWorld,
               "Tensor parallelism of experts: 0 splits them over tp like everything else. Any other degree lays ep and etp out over "
               "the same ranks anew (parallel folding); 1 keeps experts whole, which suits small ones.");
  table.choice(named<parallel, &P::dispatcher, kDispatchers>(), "dispatcher", "Token dispatch", choices_of(kDispatchers),
               "How tokens reach their experts. alltoall sends each token to the ranks of its experts; alltoall_seq (Megatron-core up "
               "to 0.8) first trades the sequence split over tp for a split by hidden; allgather gathers all tokens of the expert "
               "group on every rank and reduce-scatters the sums, which pays for few ranks and many experts per token. flex (Megatron-core "
               "with DeepEP) sends a token once to each node that has experts of it, and inside the node to their ranks. The ep ranks "
               "that share a node follow from GPUs per node and rank order. With as many groups of experts as nodes a token reaches "
               "all of its groups, without a limit the mean over balanced routing.");
  table.section("Gradient sync");
  table.choice(named<parallel, &P::sync, kSyncStrategies>(), "sync", "Gradient sync", choices_of(kSyncStrategies),
               "What replicas do with gradients, states and parameters. ddp-flat (Megatron) and ddp-buckets (PyTorch) keep all "
               "whole and all-reduce gradients. distributed-optimizer (Megatron) and zero-1 keep 1/dp of the optimizer states and "
               "gather the updated parameters; zero-2 also keeps only its part of the gradients. zero-3, fsdp1 and fsdp2 shard "
               "parameters too, and gather them before each use in forward and backward.");
  table.flag(member<parallel, &P::overlap_grad_reduce>(), "overlap_grad_reduce", "Overlap grad reduce",
             "Of ddp-flat and distributed-optimizer: gradients are reduced in buckets of at least 40 million elements (or a "
             "million per replica) as the last backward fills them, instead of all at its end.");
  table.flag(member<parallel, &P::overlap_param_gather>(), "overlap_param_gather", "Overlap param gather",
             "Of distributed-optimizer with overlap_grad_reduce: updated parameters are gathered under the next step's first forward, "
             "bucket by bucket, instead of right after the optimizer. Changes the time of a step only.");
  add_sync(table);
  table.section("Degrees");
  table.flag(member<parallel, &P::sequence_parallel>(), "sequence_parallel", "Sequence parallel",
             "Splits norms and the residual stream over the tensor-parallel ranks by sequence. Saves activation memory; "
             "each all-reduce becomes a reduce-scatter and an all-gather of the same volume, and backward gathers the "
             "saved inputs of the first projections once more.");
  table.flag(member<parallel, &P::tp_comm_overlap>(), "tp_comm_overlap", "Overlap TP communication",
             "With sequence parallelism: products run in tp pieces beside the gather of their operand or the scatter of their "
             "result (Megatron's tp-comm-overlap). Changes the time of a step only.");
  table.section("Pipeline");
  table.choice(named<parallel, &P::schedule, kSchedules>(), "schedule", "Pipeline schedule", choices_of(kSchedules),
               "Order of forward and backward on each stage. GPipe and 1F1B idle equally long; GPipe keeps activations of all m "
               "microbatches, 1F1B of at most pp - p on stage p (counted from 0). With virtual stages 1F1B is interleaved; the "
               "flexible schedule takes any number of microbatches in a row. The others split backwards: the gradient of the input "
               "goes on at once, those of weights fill idle time. ZB-H1 keeps at most pp microbatches on every stage, ZB-H2 2 pp - 1; "
               "ZB-V lays two chunks per stage in a V and keeps as much as 1F1B's first stage; the optimizer still waits for "
               "all stages, without the validation after the step. DualPipe runs microbatches from both ends, with two copies "
               "of the parameters; DualPipeV is its half, a V with one copy.");
  table.number(member<parallel, &P::virtual_stages>(), "virtual_stages", "Virtual stages", "v", "chunks per stage", 1, kMaxLayers,
               "Model chunks on each stage: a microbatch goes v times round the pipeline (interleaved 1F1B). The share that "
               "stages idle falls to (pp - 1) / (v m + pp - 1), at the price of v times the messages and more activations "
               "in flight. Wants layers that split over pp x v, and m in multiples of pp.");
  table.number(member<parallel, &P::microbatch_group>(), "microbatch_group", "Microbatches in a row", "", "microbatches", 0, kMaxBatch,
               "Of the flexible schedule: how many microbatches a virtual stage takes before the next one has its turn (0: pp, as "
               "interleaved 1F1B does). More of them wait less for messages and keep more activations; as many as there are is "
               "breadth first. Those that do not fill a group are spread over the others.");
  table.flag(member<parallel, &P::scatter_gather_pipeline>(), "scatter_gather_pipeline", "Scatter-gather messages",
             "Each tensor-parallel rank sends only its share b S D / tp to the next stage, and the receivers all-gather it "
             "over their fast links. With sequence parallelism messages are split already.");
  table.list(member<parallel, &P::stage_layers>(), "stage_layers", "Layers per stage", "layers", 0, kMaxLayers,
             "Layers of every stage, first to last, as in 7,8,8,9. Empty splits evenly, earlier stages taking the rest. "
             "Fewer layers on the first and last stage make up for embedding and head. With virtual stages pp x v numbers "
             "in the order of the model.");
  table.section("Degrees");
  table.choice(kRankOrder, "rank_order", "Rank order", rank_orders(),
               "Mesh axes from the fastest to the slowest varying rank. The first axis gets neighbouring ranks and so "
               "the links inside a node; it changes no size, only which links carry it.");
}

void add_workload(TableWriter& table) {
  using W = WorkloadSpec;
  constexpr auto workload = &Design::workload;
  table.group(KnobGroup::Workload);
  table.section("Batch");
  table.number(member<workload, &W::seq>(), "seq", "Sequence length", "S", "tokens", 1, kMaxSeq,
               "Tokens per sequence. Activations and matrix products grow linearly, attention scores quadratically.");
  table.number(member<workload, &W::batch>(), "batch", "Global batch", "B", "sequences", 1, kMaxBatch,
               "Sequences per optimizer step over all replicas. Has to be a multiple of microbatch x dp.");
  table.number(member<workload, &W::microbatch>(), "microbatch", "Microbatch", "b", "sequences", 1, kMaxMicrobatch,
               "Sequences that go through a stage at once. Larger ones make larger kernels and more activation memory, "
               "and leave fewer microbatches m = B / (b dp) to fill the pipeline.");
  table.section("Precision");
  table.choice(named<workload, &W::dtype, kDtypes>(), "dtype", "Data type", choices_of(kDtypes),
               "Type of parameters and activations. The optimizer keeps a float32 master copy of the parameters and "
               "two moments, 12 bytes per parameter.");
  table.choice(named<workload, &W::compute, kComputes>(), "compute", "Matrix products in", choices_of(kComputes),
               "Precision of the products with weights in layers; embedding, head, router and attention core stay as stored. Inputs "
               "are quantized, and only their quantized copies are kept for the weight gradient and gathered under sequence "
               "parallelism. fp8: a scale per tensor (Transformer Engine, delayed or current scaling). fp8-blockwise: float32 scales, "
               "1x128 for activations, 128x128 for weights (DeepSeek-V3, arXiv 2412.19437, section 3.3). mxfp8: an E8M0 scale per 32. "
               "nvfp4: half a byte, an E4M3 scale per 16. Weights keep two quantized copies, for forward and input gradient.");
  table.choice(named<workload, &W::dispatch_dtype, kDispatchDtypes>(), "dispatch_dtype", "Dispatch type", choices_of(kDispatchDtypes),
               "Type in which tokens travel to their experts. fp8 halves that all-to-all; the experts' results come back as stored "
               "(DeepSeek-V3, arXiv 2412.19437, section 3.3.3).");
  table.choice(named<workload, &W::grad_dtype, kGradDtypes>(), "grad_dtype", "Gradient type", choices_of(kGradDtypes),
               "Type in which gradients are accumulated over microbatches and reduced over replicas. bf16 halves both "
               "memory and traffic, at a loss of precision.");
  table.flag(member<workload, &W::master_weights>(), "master_weights", "Master weights",
             "Float32 copies of 16-bit parameters that the optimizer updates, 4 bytes per parameter. Without them it updates the "
             "parameters themselves. Megatron's --main-params-dtype. FSDP and float32 training have them as their parameters.");
  table.choice(named<workload, &W::moment_dtype, kMomentDtypes>(), "moment_dtype", "Moment type", choices_of(kMomentDtypes),
               "Type of the optimizer's two moments: 8 bytes per parameter in fp32, 4 in bf16 or fp16 (DeepSeek-V3 keeps bf16), 2 in fp8 "
               "with a scale per tensor. Megatron's --exp-avg-dtype and --exp-avg-sq-dtype.");
  table.section("Kernels");
  table.number(member<workload, &W::vocab_multiple>(), "vocab_multiple", "Vocabulary multiple", "", "entries", 1,
               kMaxVocabMultiple,
               "The vocabulary is padded to a multiple of this times tp, so that every rank holds equally many and "
               "well-aligned rows. 1 pads only as far as tp needs.");
  table.flag(member<workload, &W::gathered_logits>(), "gathered_logits", "Gather logits",
             "Gathers the logits of the whole vocabulary on every tensor-parallel rank and computes the loss there, as code without "
             "a vocabulary-parallel loss does. Keeps b S V values in float32 instead of 1/tp of them.");
  table.section("Experts");
  table.decimal(member<workload, &W::capacity_factor>(), "capacity_factor", "Capacity factor", 0, 1000000,
                "Slots of an expert as a multiple of its even share of the tokens; tokens beyond are dropped. 0 drops none.");
  table.flag(member<workload, &W::pad_to_capacity>(), "pad_to_capacity", "Pad to capacity",
             "Every expert computes all slots of its capacity, filled or not: sizes never change, at the price of the empty ones.");
  table.decimal(member<workload, &W::load_imbalance>(), "load_imbalance", "Load imbalance", 1000, 1000000,
                "Tokens of the fullest expert over the even share. What is shown is then for a rank whose experts all get that many, "
                "and dispatch and combine carry as much.");
  table.section("Kernels");
  table.flag(member<workload, &W::dropout>(), "dropout", "Dropout",
             "Drops activations at random where the architecture says so (embedding, residual branches, attention scores). "
             "Keeps a mask of one byte per element for the backward.");
  table.section("Recompute and offload");
  table.choice(named<workload, &W::recompute, kRecompute>(), "recompute", "Recompute", choices_of(kRecompute),
               "What is computed again before the backward instead of being kept. Selective repeats chosen modules, by "
               "default the core of the attention; full keeps only the input of layers and repeats their forward, collectives "
               "included.");
  table.choices(kRecomputeModules, "recompute_modules", "Recompute modules", recompute_module_choices(),
                "What selective recompute repeats, as in Megatron-core. core_attn, mlp, moe and shared_experts are checkpointed: "
                "input and result stay. layernorm, mlp_act, moe_act and mla_up_proj throw away their result too and make it again "
                "for the backward of what read it.");
  table.choice(named<workload, &W::recompute_method, kRecomputeMethods>(), "recompute_method", "Recompute method", choices_of(kRecomputeMethods),
               "Which layers full recompute repeats. uniform: all, in groups of recompute_num_layers that keep one input each; the "
               "backward of a group holds the activations of all its layers. block: the first recompute_num_layers layers of "
               "each virtual stage one by one, while the others keep everything.");
  table.number(member<workload, &W::recompute_num_layers>(), "recompute_num_layers", "Recompute layers", "", "layers", 1, kMaxLayers,
               "Of full recompute: layers of a group (uniform) or layers per virtual stage that are repeated (block).");
  table.flag(member<workload, &W::distribute_saved_activations>(), "distribute_saved_activations", "Distribute checkpoints",
             "Under full recompute without sequence parallelism every tensor-parallel rank keeps 1/tp of a layer's input and "
             "gathers it before the replay: one more all-gather of b S D per layer.");
  table.flag(member<workload, &W::offload_optimizer>(), "offload_optimizer", "Offload optimizer",
             "Optimizer states live in host memory and the host updates the parameters (ZeRO-Offload, arXiv 2101.06840; Megatron's "
             "--optimizer-cpu-offload): every step gradients go out and updated parameters come back.");
  table.number(member<workload, &W::offload_activations>(), "offload_activations", "Offload activations", "", "layers", 0, kMaxLayers,
               "The first so many layers of each virtual stage keep what their backward needs in host memory: stored after the "
               "forward of the layer, loaded again before its backward, one layer ahead (Transformer Engine, CPU offloading). Two "
               "layers' worth stays on the device, on its way.");
  table.section("Kernels");
  table.choice(member<workload, &W::profile>(), "profile", "Kernel profile", profiles(),
               "Which kernels run: how ops are fused and what each keeps for its backward. Decides activation memory.");
}

void add_cluster(TableWriter& table) {
  using C = ClusterSpec;
  constexpr auto cluster = &Design::cluster;
  table.group(KnobGroup::Cluster);
  table.section("Hardware");
  table.choice(member<cluster, &C::accelerator>(), "accelerator", "Accelerator", accelerator_choices(),
               "Device of every rank: its memory is the capacity that a design has to fit. Peaks are dense.");
  table.number(member<cluster, &C::gpus_per_node>(), "gpus_per_node", "GPUs per node", "", "ranks", 1, kMaxGpusPerNode,
               "Ranks that share the fast links of a node, or of a rack-scale domain such as NVL72. Groups that reach "
               "beyond run over the network.");
  table.section("Network", true);
  table.choice(member<cluster, &C::network>(), "network", "Network", network_choices(),
               "Links between accelerators, from the catalogue. The knobs below override single values of it; 0 takes them as they are.");
  table.number(member<cluster, &C::scaleup_domain>(), "scaleup_domain", "Scale-up domain", "", "ranks", 0, kMaxWorld,
               "Ranks that NVLink joins. 0: a node, or the rack of a rack-scale network such as NVL72, of which jobs of several racks "
               "are given segments of 64.");
  table.number(member<cluster, &C::scaleup_bandwidth>(), "scaleup_bandwidth", "NVLink bandwidth", "", "GB/s", 0, kMaxLinkRate,
               "Of one rank and direction, 10^9 bytes per second: half of what data sheets add up. 450 for an H100. 0: the accelerator's.");
  table.number(member<cluster, &C::nic_bandwidth>(), "nic_bandwidth", "NIC bandwidth", "", "Gb/s", 0, kMaxLinkRate,
               "Line rate of the network per rank and direction, 10^9 bits per second: a rank's share of its node's NICs. 400 for one NDR "
               "InfiniBand port each. 0: as in the catalogue.");
  table.number(member<cluster, &C::scaleup_latency>(), "scaleup_latency", "NVLink latency", "", "ns", 0, kMaxLatencyNs,
               "Of one hop of a small message inside a domain. 0: NCCL's own constant, 600 ns. Measured tables have it in them.");
  table.number(member<cluster, &C::network_latency>(), "network_latency", "Network latency", "", "ns", 0, kMaxLatencyNs,
               "Of one hop of a small message between domains. 0: NCCL's own constant, 2,700 ns.");
  table.number(member<cluster, &C::rails>(), "rails", "Rails", "", "", 0, kMaxGpusPerNode,
               "NICs of a node that lead to switches of their own. With several, all-to-all traffic first goes over NVLink to the rank "
               "on the receiver's rail; with 1 it does not. 0: as in the catalogue.");
  table.decimal(member<cluster, &C::oversubscription>(), "oversubscription", "Oversubscription", 0, kMaxOversubscription,
                "Bandwidth below the thinnest level of the network over that level's own: 7 where a seventh gets through, as between "
                "Llama 3's pods. 1: full bisection. 0: as in the catalogue.");
  table.number(member<cluster, &C::pod_size>(), "pod_size", "Pod size", "", "ranks", 0, kMaxWorld,
               "Ranks that reach each other without the oversubscribed level. 0: as in the catalogue, else a scale-up domain.");
  table.choice(named<cluster, &C::in_network_reduction, kInNetwork>(), "in_network_reduction", "In-network reduction", choices_of(kInNetwork),
               "Whether switches add up what all-reduces send. auto: inside domains where the network has NVLink SHARP, as NCCL does "
               "unasked; between them only on request.");
  table.choice(named<cluster, &C::collective_algorithm, kAlgorithms>(), "collective_algorithm", "Collective algorithm", choices_of(kAlgorithms),
               "How collectives run. auto takes the fastest of those that NCCL offers; what another algorithm cannot do runs as under auto.");
}

}  // namespace

KnobTable make_knob_table() {
  KnobTable table;
  TableWriter writer(table);
  add_model(writer);
  add_parallelism(writer);
  add_workload(writer);
  add_cluster(writer);
  return table;
}

}  // namespace shardscape
