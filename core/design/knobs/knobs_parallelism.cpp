// The rows of the knob table: parallelism.
#include <algorithm>

#include "design/knobs/knob_writer.h"
#include "design/limits.h"

namespace shardscape {
namespace {

inline constexpr Named<ContextMode> kContextModes[] = {
    {ContextMode::AllGather, "all-gather", "All-gather K, V"},
    {ContextMode::Ring, "ring", "Ring"},
    {ContextMode::Zigzag, "zigzag", "Zigzag ring (balanced)"},
    {ContextMode::Ulysses, "ulysses", "Ulysses"},
    {ContextMode::UlyssesRing, "ulysses-ring", "Ulysses inside ring"},
    {ContextMode::UlyssesZigzag, "ulysses-zigzag", "Ulysses inside zigzag ring"}};
inline constexpr Named<Dispatcher> kDispatchers[] = {
    {Dispatcher::AllToAll, "alltoall", "All-to-all"},
    {Dispatcher::AllToAllSeq, "alltoall_seq", "All-to-all, tokens split by hidden"},
    {Dispatcher::AllGather, "allgather", "All-gather"},
    {Dispatcher::Flex, "flex", "Once per node (DeepEP)"}};
inline constexpr Named<ScheduleKind> kSchedules[] = {
    {ScheduleKind::OneFOneB, "1f1b", "1F1B"},
    {ScheduleKind::GPipe, "gpipe", "GPipe"},
    {ScheduleKind::Flexible, "flexible", "Flexible interleaving (Llama 3)"},
    {ScheduleKind::ZbH1, "zb-h1", "ZB-H1"},
    {ScheduleKind::ZbH2, "zb-h2", "ZB-H2"},
    {ScheduleKind::ZbV, "zb-v", "ZB-V"},
    {ScheduleKind::ZbAuto, "zb-auto", "ZB from pass times (ZB-1p, ZB-2p)"},
    {ScheduleKind::DualPipe, "dualpipe", "DualPipe"},
    {ScheduleKind::DualPipeV, "dualpipe-v", "DualPipeV"}};
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

}  // namespace

void add_parallelism(TableWriter& table) {
  using P = ParallelSpec;
  constexpr auto parallel = &Design::parallel;
  table.group(KnobGroup::Parallelism);
  table.section("Degrees");
  table.number(
      member<parallel, &P::tp>(), "tp", "Tensor parallel", "tp", "ranks", 1, kMaxWorld,
      "Splits heads, FFN and vocabulary over ranks. Divides parameters and matrix products, and costs two "
      "all-reduces of b S D per layer in forward and two in backward, on the critical path: keep it inside a "
      "node.");
  table.number(
      member<parallel, &P::pp>(), "pp", "Pipeline parallel", "pp", "stages", 1, kMaxWorld,
      "Splits the layers into stages. Sends only b S D between neighbours, but idles (pp - 1) / (m + pp - 1) "
      "of the time: it wants many microbatches m.");
  table.number(member<parallel, &P::cp>(), "cp", "Context parallel", "cp", "ranks", 1, kMaxWorld,
               "Ranks that share one sequence: each holds seq/cp tokens of every activation. Attention then "
               "gathers K and V, "
               "passes them round a ring, or exchanges heads for tokens, in every layer; Mamba-2 mixers "
               "exchange tokens for groups or "
               "heads. In decode each keeps 1/cp of the cache of every sequence and attends to it; partial "
               "results are merged by the sums of "
               "their softmax. Outside of attention cp splits the sequences of a microbatch if it divides "
               "their number (LoongServe), else all its "
               "ranks do the same; windows and the states of mixers stay with the sequences.");
  table.section("Context");
  table.choice(named<parallel, &P::context, kContextModes>(), "context", "Context attention",
               choices_of(kContextModes),
               "How attention sees the whole sequence under context parallelism. all-gather: of K and V. "
               "ring: blocks of K and V "
               "go from rank to rank while the one at hand is worked on; a causal mask leaves the first rank "
               "little and the last "
               "one all to do. zigzag: rank i holds blocks i and 2 cp - 1 - i of 2 cp, so that all do "
               "equally much. ulysses: "
               "tokens are exchanged for heads by all-to-all, which needs KV heads that tp x cp divides. "
               "ulysses-ring and "
               "ulysses-zigzag: all-to-all among neighbours, a ring of such groups.");
  table.number(member<parallel, &P::ulysses_degree>(), "ulysses_degree", "Ulysses degree", "u", "ranks", 0,
               kMaxWorld,
               "Of ulysses-ring and ulysses-zigzag: neighbours that exchange tokens for heads; cp / u such "
               "groups form the ring. 0 "
               "takes as many as the KV heads allow. More of them send less, and over shorter ways.");
  table.number(member<parallel, &P::dcp>(), "dcp", "Decode context parallel", "dcp", "ranks", 1, kMaxWorld,
               "Of decode: neighbours in a tensor-parallel group that would keep the same KV heads, or "
               "latents, share their context instead: each "
               "keeps 1/dcp of the cache (vLLM's -dcp; Helix, arXiv 2507.07120, with tp x cp written as tp). "
               "Queries of their heads are gathered, each "
               "attends to its part, and results are reduce-scattered to the heads after a gather of the "
               "softmax's sums. It costs no ranks. "
               "At least tp / KV heads; any part of tp where latents are cached.");
  table.section("Degrees");
  table.number(
      member<parallel, &P::dp>(), "dp", "Data parallel", "dp", "replicas", 1, kMaxWorld,
      "Replicas of the model, each with its share of the batch. All gradients are reduced over them; what "
      "they shard of parameters and optimizer states is up to the gradient sync.");
  table.section("Experts");
  table.number(
      member<parallel, &P::ep>(), "ep", "Expert parallel", "ep", "ranks", 1, kMaxWorld,
      "Ranks that share the experts of a layer, each holding experts/ep of them. They are taken out of dp x "
      "cp (and tp, "
      "where experts have a tensor parallelism of their own), so ep costs no ranks: it divides expert "
      "parameters and "
      "turns dispatch and combine into all-to-alls. Expert gradients are reduced over what remains, edp.");
  table.number(member<parallel, &P::etp>(), "etp", "Expert tensor parallel", "etp", "ranks", 0, kMaxWorld,
               "Tensor parallelism of experts: 0 splits them over tp like everything else. Any other degree "
               "lays ep and etp out over "
               "the same ranks anew (parallel folding); 1 keeps experts whole, which suits small ones.");
  table.choice(named<parallel, &P::dispatcher, kDispatchers>(), "dispatcher", "Token dispatch",
               choices_of(kDispatchers),
               "How tokens reach their experts. alltoall sends each token to the ranks of its experts; "
               "alltoall_seq (Megatron-core up "
               "to 0.8) first trades the sequence split over tp for a split by hidden; allgather gathers all "
               "tokens of the expert "
               "group on every rank and reduce-scatters the sums, which pays for few ranks and many experts "
               "per token. flex (Megatron-core "
               "with DeepEP) sends a token once to each node that has experts of it, and inside the node to "
               "their ranks. The ep ranks "
               "that share a node follow from GPUs per node and rank order. With as many groups of experts "
               "as nodes a token reaches "
               "all of its groups, without a limit the mean over balanced routing. Its kernels put slots "
               "where experts read them: on one node it "
               "sends what alltoall does, without the kernels that sort pieces by expert.");
  table.number(member<parallel, &P::dispatch_sms>(), "dispatch_sms", "SMs of dispatch", "", "processors", 0,
               kMaxProcessors,
               "Processors that the kernels of dispatch and combine keep to themselves while a forward and a "
               "backward overlap (DualPipe, ep_comm_overlap): products "
               "and attention of the other one have so many fewer meanwhile. 20 in DeepSeek-V3 and as DeepEP "
               "and Megatron-core's "
               "moe_deepep_num_sms have it.");
  table.flag(member<parallel, &P::ep_comm_overlap>(), "ep_comm_overlap", "Overlap EP communication",
             "Of 1F1B: a forward and a backward of other microbatches run at once, so that each hides the "
             "other's exchanges of experts (Megatron's "
             "overlap-moe-expert-parallel-comm). Over several stages it wants virtual stages. One more "
             "microbatch is in flight.");
  table.section("Gradient sync");
  table.choice(named<parallel, &P::sync, kSyncStrategies>(), "sync", "Gradient sync",
               choices_of(kSyncStrategies),
               "What replicas do with gradients, states and parameters. ddp-flat (Megatron) and ddp-buckets "
               "(PyTorch) keep all "
               "whole and all-reduce gradients. distributed-optimizer (Megatron) and zero-1 keep 1/dp of the "
               "optimizer states and "
               "gather the updated parameters; zero-2 also keeps only its part of the gradients. zero-3, "
               "fsdp1 and fsdp2 shard "
               "parameters too, and gather them before each use in forward and backward.");
  table.flag(member<parallel, &P::overlap_grad_reduce>(), "overlap_grad_reduce", "Overlap grad reduce",
             "Of ddp-flat and distributed-optimizer: gradients are reduced in buckets of at least 40 million "
             "elements (or a "
             "million per replica) as the last backward fills them, instead of all at its end.");
  table.flag(member<parallel, &P::overlap_param_gather>(), "overlap_param_gather", "Overlap param gather",
             "Of distributed-optimizer with overlap_grad_reduce: updated parameters are gathered under the "
             "next step's first forward, "
             "bucket by bucket, instead of right after the optimizer. Changes the time of a step only.");
  add_sync(table);
  table.section("Degrees");
  table.flag(member<parallel, &P::sequence_parallel>(), "sequence_parallel", "Sequence parallel",
             "Splits norms and the residual stream over the tensor-parallel ranks by sequence. Saves "
             "activation memory; "
             "each all-reduce becomes a reduce-scatter and an all-gather of the same volume, and backward "
             "gathers the "
             "saved inputs of the first projections once more.");
  table.flag(member<parallel, &P::tp_comm_overlap>(), "tp_comm_overlap", "Overlap TP communication",
             "With sequence parallelism: products run in tp pieces beside the gather of their operand or the "
             "scatter of their "
             "result (Megatron's tp-comm-overlap). Changes the time of a step only.");
  table.section("Pipeline");
  table.choice(
      named<parallel, &P::schedule, kSchedules>(), "schedule", "Pipeline schedule", choices_of(kSchedules),
      "Order of forward and backward on each stage. GPipe and 1F1B idle equally long; GPipe keeps "
      "activations of all m "
      "microbatches, 1F1B of at most pp - p on stage p (counted from 0). With virtual stages 1F1B is "
      "interleaved; the "
      "flexible schedule takes any number of microbatches in a row. The others split backwards: the gradient "
      "of the input "
      "goes on at once, those of weights fill idle time. ZB-H1 keeps at most pp microbatches on every stage, "
      "ZB-H2 2 pp - 1; "
      "ZB-V lays two chunks per stage in a V and keeps as much as 1F1B's first stage; ZB from pass times "
      "looks for the order that idles "
      "least under a limit of memory (ZB-1p, ZB-2p). The optimizer still waits for all stages, without the "
      "validation after the step. DualPipe runs microbatches from both ends, with two copies "
      "of the parameters; DualPipeV is its half, a V with one copy.");
  table.number(member<parallel, &P::virtual_stages>(), "virtual_stages", "Virtual stages", "v",
               "chunks per stage", 1, kMaxLayers,
               "Model chunks on each stage: a microbatch goes v times round the pipeline (interleaved 1F1B). "
               "The share that "
               "stages idle falls to (pp - 1) / (v m + pp - 1), at the price of v times the messages and "
               "more activations "
               "in flight. Wants layers that split over pp x v, and m in multiples of pp.");
  table.number(member<parallel, &P::microbatch_group>(), "microbatch_group", "Microbatches in a row", "",
               "microbatches", 0, kMaxBatch,
               "Of the flexible schedule: how many microbatches a virtual stage takes before the next one "
               "has its turn (0: pp, as "
               "interleaved 1F1B does). More of them wait less for messages and keep more activations; as "
               "many as there are is "
               "breadth first. Those that do not fill a group are spread over the others.");
  table.list(pass_plan<&PassPlan::times>(), "pass_times", "Pass times", "us", 0, kMaxPassTime,
             "equal length of all and messages that take nothing",
             "Of ZB from pass times: how long a microbatch takes on a stage, as in 18522,18086,9337,601: its "
             "forward, the gradient of its input, "
             "those of weights, and a message to the next stage. Only their ratios count. Empty: the first "
             "three take equally long and messages nothing.");
  table.number(pass_plan<&PassPlan::most_in_flight>(), "most_in_flight", "Most in flight", "", "microbatches",
               0, kMaxBatch,
               "Of ZB from pass times: how many microbatches a stage may hold (0: 2 pp, which is ZB-2p; pp "
               "is ZB-1p). More fill more of the "
               "bubble and keep more activations.");
  table.number(pass_plan<&PassPlan::waiting_percent>(), "waiting_percent", "Counted while weights wait", "",
               "%", 0, 100,
               "Of ZB from pass times: what a microbatch counts for between the gradient of its input and "
               "those of weights, in percent of what it counted "
               "before. 100 never holds more than most_in_flight; less is closer to the bytes that stay.");
  table.flag(member<parallel, &P::scatter_gather_pipeline>(), "scatter_gather_pipeline",
             "Scatter-gather messages",
             "Each tensor-parallel rank sends only its share b S D / tp to the next stage, and the receivers "
             "all-gather it "
             "over their fast links. With sequence parallelism messages are split already.");
  table.list(member<parallel, &P::stage_layers>(), "stage_layers", "Layers per stage", "layers", 0,
             kMaxLayers, "even split",
             "Layers of every stage, first to last, as in 7,8,8,9. Empty splits evenly, earlier stages "
             "taking the rest. "
             "Fewer layers on the first and last stage make up for embedding and head. With virtual stages "
             "pp x v numbers "
             "in the order of the model.");
  table.flag(
      member<parallel, &P::account_for_embedding_in_pipeline_split>(),
      "account_for_embedding_in_pipeline_split", "Embedding as a layer",
      "When layers are split evenly over stages the embedding counts as one, so that the first (virtual) "
      "stage has a layer fewer: "
      "Llama 3 405B has 126 layers for 128 even parts. Megatron's account-for-embedding-in-pipeline-split.");
  table.flag(member<parallel, &P::account_for_loss_in_pipeline_split>(), "account_for_loss_in_pipeline_split",
             "Head as a layer",
             "The same of the head and its loss, on the last (virtual) stage. Megatron's "
             "account-for-loss-in-pipeline-split.");
  table.section("Degrees");
  table.choice(
      kRankOrder, "rank_order", "Rank order", rank_orders(),
      "Mesh axes from the fastest to the slowest varying rank. The first axis gets neighbouring ranks and so "
      "the links inside a node; it changes no size, only which links carry it.");
}

}  // namespace shardscape
