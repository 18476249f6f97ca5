// The rows of the knob table: parallelism.
#include <algorithm>

#include "design/knobs/knob_writer.h"
#include "design/limits.h"

namespace shardscape {
namespace {

using P = ParallelSpec;
constexpr auto parallel = &Design::parallel;

inline constexpr Named<ContextMode> kContextModes[] = {
    {ContextMode::AllGather, "all-gather", "All-gather K, V"},
    {ContextMode::Ring, "ring", "Ring"},
    {ContextMode::Zigzag, "zigzag", "Zigzag ring (balanced)"},
    {ContextMode::Ulysses, "ulysses", "Ulysses"},
    {ContextMode::UlyssesRing, "ulysses-ring", "Ulysses inside a ring"},
    {ContextMode::UlyssesZigzag, "ulysses-zigzag", "Ulysses inside a zigzag ring"}};
static_assert(names_all(kContextModes));
inline constexpr Named<Dispatcher> kDispatchers[] = {
    {Dispatcher::AllToAll, "alltoall", "All-to-all"},
    {Dispatcher::AllToAllSeq, "alltoall_seq", "All-to-all, split along hidden"},
    {Dispatcher::AllGather, "allgather", "All-gather"},
    {Dispatcher::Flex, "flex", "Once per node (DeepEP)"}};
static_assert(names_all(kDispatchers));
inline constexpr Named<ScheduleKind> kSchedules[] = {
    {ScheduleKind::OneFOneB, "1f1b", "1F1B"},
    {ScheduleKind::GPipe, "gpipe", "GPipe"},
    {ScheduleKind::Flexible, "flexible", "Flexible interleaving (Llama 3)"},
    {ScheduleKind::ZbH1, "zb-h1", "ZB-H1"},
    {ScheduleKind::ZbH2, "zb-h2", "ZB-H2"},
    {ScheduleKind::ZbV, "zb-v", "ZB-V"},
    {ScheduleKind::ZbAuto, "zb-auto", "ZB from pass durations (ZB-1p, ZB-2p)"},
    {ScheduleKind::DualPipe, "dualpipe", "DualPipe"},
    {ScheduleKind::DualPipeV, "dualpipe-v", "DualPipeV"}};
// ForwardOnly is inference; OneFOneBPairs is 1F1B with ep_comm_overlap, OneFOneBForwardsFirst with
// forwards_first.
static_assert(names_all(kSchedules, {ScheduleKind::ForwardOnly, ScheduleKind::OneFOneBPairs,
                                     ScheduleKind::OneFOneBForwardsFirst}));
inline constexpr Named<SyncStrategy> kSyncStrategies[] = {
    {SyncStrategy::DdpFlat, "ddp-flat", "All-reduce (Megatron DDP)"},
    {SyncStrategy::DdpBuckets, "ddp-buckets", "All-reduce in buckets (PyTorch DDP)"},
    {SyncStrategy::DistributedOptimizer, "distributed-optimizer", "Distributed optimizer (Megatron, ZeRO-1)"},
    {SyncStrategy::Zero0, "zero-0", "ZeRO stage 0 (DeepSpeed)"},
    {SyncStrategy::Zero1, "zero-1", "ZeRO stage 1 (DeepSpeed)"},
    {SyncStrategy::Zero2, "zero-2", "ZeRO stage 2 (DeepSpeed)"},
    {SyncStrategy::Zero3, "zero-3", "ZeRO stage 3 (DeepSpeed)"},
    {SyncStrategy::Fsdp1, "fsdp1", "FSDP, flat units (PyTorch)"},
    {SyncStrategy::Fsdp2, "fsdp2", "FSDP2, per parameter (PyTorch)"},
    {SyncStrategy::MegatronFsdp, "megatron-fsdp", "Megatron-FSDP, flat units"}};
static_assert(names_all(kSyncStrategies));

// Access to a field of PassPlan, the inputs of schedule zb-auto.
template <auto Field>
constexpr KnobAccess pass_plan() {
  using Value = std::remove_cvref_t<decltype(std::declval<PassPlan>().*Field)>;
  KnobAccess access{
      [](const Design& d) { return KnobValue(std::in_place_type<Value>, d.parallel.passes.*Field); },
      [](Design& d, const KnobValue& value) { d.parallel.passes.*Field = std::get<Value>(value); }};
  if constexpr (std::is_same_v<Value, int64_t>)
    access.number = [](const Design& d) -> int64_t { return d.parallel.passes.*Field; };
  return access;
}

constexpr KnobAccess kRankOrder{
    [](const Design& d) { return KnobValue(to_string(d.parallel.order)); },
    [](Design& d, const KnobValue& value) {
      parse_rank_order(std::get<std::string>(value), d.parallel.order);
    },
    [](const Design& d) -> int64_t {
      const auto& order = d.parallel.order.fastest_first;
      return std::is_permutation(order.begin(), order.end(), RankOrder{}.fastest_first.begin()) ? 0 : -1;
    }};

// The default first, the others in alphabetical order.
std::vector<KnobChoice> rank_orders() {
  const RankOrder usual;
  std::vector<KnobChoice> choices{{to_string(usual), to_string(usual) + " (default)"}};
  RankOrder order;
  std::sort(order.fastest_first.begin(), order.fastest_first.end());
  do {
    if (order != usual) choices.push_back({to_string(order), to_string(order)});
  } while (std::next_permutation(order.fastest_first.begin(), order.fastest_first.end()));
  std::sort(choices.begin() + 1, choices.end(),
            [](const auto& a, const auto& b) { return a.value < b.value; });
  return choices;
}

void add_model_degrees(TableWriter& table) {
  table.section("Degrees");
  table.number(member<parallel, &P::tp>(), "tp", "Tensor parallel", "tp", "ranks", 1, kMaxWorld,
               "Splits heads, FFN and vocabulary over ranks, and with them parameters and GEMMs. Costs two "
               "all-reduces of b S D per layer in the forward and two in the backward. They are on the "
               "critical path, so groups should stay inside a node.");
  table.number(member<parallel, &P::pp>(), "pp", "Pipeline parallel", "pp", "stages", 1, kMaxWorld,
               "Splits the layers into stages. Neighbouring stages exchange only b S D, but each stage idles "
               "(pp - 1) / (m + pp - 1) of the time. Many microbatches m keep this share small.");
  table.number(member<parallel, &P::cp>(), "cp", "Context parallel", "cp", "ranks", 1, kMaxWorld,
               "Ranks that share one sequence: each holds seq/cp tokens of every activation. In every layer, "
               "attention gathers K and V, passes them around a ring, or exchanges heads for tokens. Mamba-2 "
               "mixers exchange tokens for groups or heads. Decode: each rank stores and attends to 1/cp of "
               "the cache of every sequence, and softmax sums merge the partial results. Outside attention, "
               "cp splits the sequences of a microbatch if cp divides their number (LoongServe); otherwise "
               "all ranks of cp repeat the same work. Windows and mixer states stay with the sequences.");
}

void add_context_attention(TableWriter& table) {
  table.section("Context");
  table.choice(named<parallel, &P::context, kContextModes>(), "context", "Context attention",
               choices_of(kContextModes),
               "How attention sees the whole sequence under context parallelism. all-gather: gathers K and "
               "V. ring: blocks of K and V move from rank to rank while the current block is computed; under "
               "a causal mask, the first rank has the least work and the last rank the most. zigzag: rank i "
               "holds blocks i and 2 cp - 1 - i of 2 cp, so all ranks have equal work. ulysses: an "
               "all-to-all exchanges tokens for heads; tp x cp must divide the KV heads. ulysses-ring and "
               "ulysses-zigzag: neighbouring ranks run the all-to-all, and a ring connects their groups.");
  table.number(member<parallel, &P::ulysses_degree>(), "ulysses_degree", "Ulysses degree", "u", "ranks", 0,
               kMaxWorld,
               "For ulysses-ring and ulysses-zigzag: number u of neighbouring ranks that exchange tokens for "
               "heads. The cp / u groups form the ring. 0: as many ranks as the KV heads allow. A larger "
               "degree sends less data over shorter distances.");
  table.number(member<parallel, &P::dcp>(), "dcp", "Decode context parallel", "dcp", "ranks", 1, kMaxWorld,
               "For decode: neighbouring tensor-parallel ranks that would hold copies of the same KV heads "
               "or latents split the context instead. Each stores 1/dcp of the cache (vLLM's -dcp; Helix, "
               "arXiv 2507.07120, with tp x cp written as tp). The queries of their heads are gathered, and "
               "each rank attends to its part of the context. The softmax sums are gathered, and the results "
               "are reduce-scattered to the heads. dcp needs no additional ranks. A degree above 1 must be "
               "at least tp / KV heads; with cached latents, any divisor of tp.");
}

void add_replicas_and_experts(TableWriter& table) {
  table.section("Degrees");
  table.number(member<parallel, &P::dp>(), "dp", "Data parallel", "dp", "replicas", 1, kMaxWorld,
               "Replicas of the model, each with its share of the batch. All gradients are reduced over the "
               "replicas. Gradient sync decides whether replicas shard parameters and optimizer states.");
  table.section("Experts");
  table.number(member<parallel, &P::ep>(), "ep", "Expert parallel", "ep", "ranks", 1, kMaxWorld,
               "Ranks that share the experts of a layer. Each holds experts/ep experts. The ranks are those "
               "of dp x cp (and of tp, if experts have a tensor parallelism of their own), so ep needs no "
               "additional ranks. ep divides the expert parameters and turns dispatch and combine into "
               "all-to-alls. Expert gradients are reduced over the remaining ranks, edp.");
  table.number(member<parallel, &P::etp>(), "etp", "Expert tensor parallel", "etp", "ranks", 0, kMaxWorld,
               "Tensor parallelism of experts. 0: experts are split over tp like all other layers. Any other "
               "degree gives experts a mesh of their own over the same ranks (parallel folding). 1: experts "
               "stay whole, which suits small experts. In inference without sequence parallelism, tp ranks "
               "with the same tokens then share the experts.");
  table.choice(
      named<parallel, &P::dispatcher, kDispatchers>(), "dispatcher", "Token dispatch",
      choices_of(kDispatchers),
      "How tokens reach their experts. alltoall: sends each token to the ranks of its experts. alltoall_seq "
      "(Megatron-core up to 0.8): first exchanges the split of the sequence over tp for a split along "
      "hidden. allgather: gathers all tokens of the expert group on every rank and reduce-scatters the sums; "
      "this pays off with few ranks and many experts per token. flex (Megatron-core with DeepEP): sends a "
      "token once to each node with experts of the token, and from there to their ranks. GPUs per node and "
      "rank order decide which ep ranks share a node. With one group of experts per node, a token reaches as "
      "many nodes as it selects groups; without groups, the mean over balanced routing counts. The kernels "
      "of flex write slots in the layout that experts read. On one node, flex sends the same bytes as "
      "alltoall, without the kernels that sort tokens by expert.");
  table.number(member<parallel, &P::dispatch_sms>(), "dispatch_sms", "Dispatch SMs", "", "processors", 0,
               kMaxProcessors,
               "SMs that the kernels of dispatch and combine occupy while a forward and a backward overlap "
               "(DualPipe, ep_comm_overlap), or while other blocks of the layer compute (LongCat-Flash). "
               "During the overlap, GEMMs and attention have that many SMs fewer. 20 in DeepSeek-V3, DeepEP "
               "and Megatron-core's moe_deepep_num_sms.");
  table.flag(member<parallel, &P::ep_comm_overlap>(), "ep_comm_overlap", "Overlap EP communication",
             "For 1F1B: a forward and a backward of different microbatches run concurrently. Each hides the "
             "expert exchanges of the other (Megatron's overlap-moe-expert-parallel-comm). Several stages "
             "also need virtual stages. One more microbatch is in flight.");
  table.flag(member<parallel, &P::shared_expert_overlap>(), "shared_expert_overlap", "Overlap shared experts",
             "Shared experts run on a stream of their own: their first GEMM and activation while tokens are "
             "sent to the routed experts, their second GEMM while the results return (Megatron's "
             "moe-shared-expert-overlap).");
}

void add_sync_policy(TableWriter& table) {
  table.section("Gradient sync");
  table.choice(named<parallel, &P::sync, kSyncStrategies>(), "sync", "Gradient sync",
               choices_of(kSyncStrategies),
               "How replicas store and reduce gradients, optimizer states and parameters. ddp-flat "
               "(Megatron) and ddp-buckets (PyTorch) replicate all three and all-reduce gradients. "
               "distributed-optimizer (Megatron) and zero-1 shard the optimizer states over dp and gather "
               "the updated parameters. zero-2 also shards the gradients. zero-3, fsdp1 and fsdp2 also shard "
               "the parameters and gather them before each use in forward and backward.");
  table.flag(member<parallel, &P::overlap_grad_reduce>(), "overlap_grad_reduce", "Overlap grad reduce",
             "For ddp-flat and distributed-optimizer: the last backward reduces gradients in buckets as they "
             "fill, instead of all gradients at its end. A bucket has at least 40 million elements, or a "
             "million per replica.");
  table.flag(member<parallel, &P::overlap_param_gather>(), "overlap_param_gather", "Overlap param gather",
             "For distributed-optimizer with overlap_grad_reduce: updated parameters are gathered bucket by "
             "bucket during the next step's first forward, instead of right after the optimizer. Changes "
             "only the step time.");
}

void add_tensor_options(TableWriter& table) {
  table.section("Degrees");
  table.flag(member<parallel, &P::sequence_parallel>(), "sequence_parallel", "Sequence parallel",
             "Splits norms and the residual stream along the sequence over the tensor-parallel ranks. Saves "
             "activation memory. Each all-reduce becomes a reduce-scatter and an all-gather of the same "
             "volume. The backward gathers the saved inputs of the first projections once more.");
  table.flag(member<parallel, &P::tp_comm_overlap>(), "tp_comm_overlap", "Overlap TP communication",
             "With sequence parallelism: GEMMs run in tp pieces, concurrently with the gather of "
             "their operand or the scatter of their result (Megatron's tp-comm-overlap). Changes "
             "only the step time.");
  table.flag(member<parallel, &P::tp_comm_overlap_rs_dgrad>(), "tp_comm_overlap_rs_dgrad",
             "Overlap scatters with input gradients",
             "The scatter of an input gradient overlaps with the GEMM of this gradient (Megatron's "
             "--tp-comm-overlap-rs-dgrad). Otherwise it overlaps with the GEMM of the weight gradient, which "
             "frozen weights do not have, so that LoRA without this setting exposes these scatters. Changes "
             "only the step time.");
}

void add_schedule(TableWriter& table) {
  table.section("Pipeline");
  table.choice(named<parallel, &P::schedule, kSchedules>(), "schedule", "Pipeline schedule",
               choices_of(kSchedules),
               "Order of forwards and backwards on each stage. GPipe and 1F1B have equal bubbles. GPipe "
               "holds the activations of all m microbatches; 1F1B holds at most pp - p on stage p (counted "
               "from 0). With virtual stages, 1F1B is interleaved; the flexible schedule runs groups of any "
               "number of microbatches. All other schedules split backwards: the gradient of the input is "
               "sent immediately, and weight gradients fill bubbles. ZB-H1 holds at most pp microbatches on "
               "every stage, ZB-H2 2 pp - 1. ZB-V places two chunks per stage in a V and holds as much as "
               "1F1B's first stage. ZB from pass durations searches for the order with the smallest bubble "
               "under a memory limit (ZB-1p, ZB-2p). The optimizer waits for all stages, because ZB's "
               "validation after the step is not modelled. DualPipe runs microbatches from both ends, with "
               "two copies of the parameters. DualPipeV is half of DualPipe: a V with one copy.");
  table.number(
      member<parallel, &P::virtual_stages>(), "virtual_stages", "Virtual stages", "v", "chunks per stage", 1,
      kMaxLayers,
      "Model chunks on each stage: a microbatch passes through the pipeline v times (interleaved 1F1B). The "
      "bubble shrinks to (pp - 1) / (v m + pp - 1) of the step. There are v times as many messages, and more "
      "activations are in flight. pp x v must divide the layers, and pp must divide the microbatches m.");
  table.flag(
      member<parallel, &P::forwards_first>(), "forwards_first", "Forwards first if m = pp",
      "For interleaved 1F1B with as many microbatches as stages (m = pp): every stage runs all forwards "
      "before its first backward and holds all activations, as Megatron-core did until November 2024. "
      "Off: the warm-up is as long as with more microbatches, which holds fewer activations.");
  table.number(member<parallel, &P::microbatch_group>(), "microbatch_group", "Microbatch group size", "",
               "microbatches", 0, kMaxBatch,
               "For the flexible schedule: number of consecutive microbatches that a virtual stage runs "
               "before the next virtual stage. 0: pp, as in interleaved 1F1B. Larger groups wait less for "
               "messages and hold more activations. A single group of all microbatches is breadth first. "
               "Microbatches that do not fill a group are spread over the other groups.");
  table.list(
      pass_plan<&PassPlan::times>(), "pass_times", "Pass durations", "µs", 0, kMaxPassTime,
      "equal duration of all passes and messages without duration",
      "For ZB from pass durations: durations of one microbatch on one stage, as in 18522,18086,9337,601: "
      "forward, gradient of the input, weight gradients, message to the next stage. Only their ratios have "
      "an effect. Empty: the three passes take equal time and messages take none.");
  table.number(
      pass_plan<&PassPlan::most_in_flight>(), "most_in_flight", "Max microbatches in flight", "",
      "microbatches", 0, kMaxBatch,
      "For ZB from pass durations: the largest number of microbatches that a stage may hold. pp is ZB-1p, 2 "
      "pp is ZB-2p. 0: 2 pp. A higher limit fills more of the bubble and holds more activations.");
  table.number(pass_plan<&PassPlan::waiting_percent>(), "waiting_percent", "Memory of deferred microbatches",
               "", "%", 0, 100,
               "For ZB from pass durations: share of a microbatch that counts against the limit between its "
               "input gradient and its deferred weight gradients. 100: a stage never holds more than "
               "most_in_flight microbatches. A smaller share is closer to the bytes that stay saved.");
}

void add_stages(TableWriter& table) {
  table.flag(
      member<parallel, &P::scatter_gather_pipeline>(), "scatter_gather_pipeline", "Scatter-gather messages",
      "Each tensor-parallel rank sends only its share b S D / tp to the next stage, and the receivers "
      "all-gather the message over their fast links. Sequence parallelism splits the messages anyway.");
  table.list(member<parallel, &P::stage_layers>(), "stage_layers", "Layers per stage", "layers", 0,
             kMaxLayers, "even split",
             "Layers of every stage, first to last, as in 7,8,8,9. Empty: an even split, in which earlier "
             "stages take the remainder. Fewer layers on the first and last stage compensate for embedding "
             "and head. With virtual stages, the list has pp x v numbers in the order of the model.");
  table.flag(member<parallel, &P::account_for_embedding_in_pipeline_split>(),
             "account_for_embedding_in_pipeline_split", "Embedding as a layer",
             "The even split over stages counts the embedding as one layer, so the first (virtual) stage has "
             "one layer fewer. Llama 3 405B splits its 126 layers, embedding and head into 128 equal parts. "
             "Megatron's account-for-embedding-in-pipeline-split.");
  table.flag(member<parallel, &P::account_for_loss_in_pipeline_split>(), "account_for_loss_in_pipeline_split",
             "Head as a layer",
             "The even split over stages counts the head with its loss as one layer, so the last (virtual) "
             "stage has one layer fewer. Megatron's account-for-loss-in-pipeline-split.");
}

}  // namespace

void add_parallelism(TableWriter& table) {
  table.group(KnobGroup::Parallelism);
  add_model_degrees(table);
  add_context_attention(table);
  add_replicas_and_experts(table);
  add_sync_policy(table);
  add_sync(table);
  add_tensor_options(table);
  add_schedule(table);
  add_stages(table);
  table.section("Degrees");
  table.choice(kRankOrder, "rank_order", "Rank order", rank_orders(),
               "Mesh axes, from the fastest-varying to the slowest-varying. Groups along the first axis "
               "consist of neighbouring ranks, which share the links inside a node. The order changes no "
               "sizes, only the links that carry traffic.");
}

}  // namespace shardscape
