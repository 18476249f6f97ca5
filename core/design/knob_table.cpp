// The rows of the knob table.
#include <algorithm>
#include <iterator>

#include "design/accelerator.h"
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
inline constexpr Named<Recompute> kRecompute[] = {
    {Recompute::None, "none", "None"}, {Recompute::Selective, "selective", "Selective (attention)"}, {Recompute::Full, "full", "Full"}};
inline constexpr Named<ContextMode> kContextModes[] = {{ContextMode::AllGather, "all-gather", "All-gather K, V"},
                                                       {ContextMode::Ring, "ring", "Ring"},
                                                       {ContextMode::Zigzag, "zigzag", "Zigzag ring (balanced)"},
                                                       {ContextMode::Ulysses, "ulysses", "Ulysses"},
                                                       {ContextMode::UlyssesRing, "ulysses-ring", "Ulysses inside ring"},
                                                       {ContextMode::UlyssesZigzag, "ulysses-zigzag", "Ulysses inside zigzag ring"}};
inline constexpr Named<ScheduleKind> kSchedules[] = {{ScheduleKind::OneFOneB, "1f1b", "1F1B"},
                                                     {ScheduleKind::GPipe, "gpipe", "GPipe"}};

// Only policies that reports, memory and traces carry through are offered.
inline constexpr Named<SyncStrategy> kSyncStrategies[] = {
    {SyncStrategy::DdpFlat, "ddp-flat", "All-reduce (Megatron DDP)"},
    {SyncStrategy::DdpBuckets, "ddp-buckets", "All-reduce in 25 MB buckets (PyTorch DDP)"},
    {SyncStrategy::DistributedOptimizer, "distributed-optimizer", "Distributed optimizer (ZeRO-1)"},
    {SyncStrategy::Fsdp1, "fsdp1", "FSDP, flat units (ZeRO-3)"}};

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

class TableWriter {
 public:
  explicit TableWriter(KnobTable& table) : table_(table) {}
  void group(KnobGroup group) { group_ = group; }

  void number(KnobAccess access, std::string id, std::string label, std::string symbol, std::string unit, int64_t min,
              int64_t max, std::string help) {
    Knob& knob = add(access, KnobType::Integer, std::move(id), std::move(label), std::move(symbol), std::move(help));
    knob.unit = std::move(unit);
    knob.min = min;
    knob.max = max;
  }
  void flag(KnobAccess access, std::string id, std::string label, std::string help) {
    add(access, KnobType::Boolean, std::move(id), std::move(label), "", std::move(help));
  }
  void choice(KnobAccess access, std::string id, std::string label, std::vector<KnobChoice> choices, std::string help) {
    add(access, KnobType::Choice, std::move(id), std::move(label), "", std::move(help)).choices = std::move(choices);
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
    knob.type = type;
    knob.label = std::move(label);
    knob.symbol = std::move(symbol);
    knob.help = std::move(help);
    table_.access.push_back(access);
    return table_.knobs.emplace_back(std::move(knob));
  }

  KnobTable& table_;
  KnobGroup group_ = KnobGroup::Model;
};

void add_model(TableWriter& table) {
  using M = ModelSpec;
  constexpr auto model = &Design::model;
  table.group(KnobGroup::Model);
  table.number(member<model, &M::layers>(), "layers", "Layers", "L", "", 1, kMaxLayers,
               "Transformer layers. Parameters, FLOPs and saved activations grow linearly with it.");
  table.number(member<model, &M::hidden>(), "hidden", "Hidden size", "D", "", 1, kMaxHidden,
               "Width of the residual stream. It need not equal heads x head size.");
  table.number(member<model, &M::heads>(), "heads", "Attention heads", "H", "", 1, kMaxHeads,
               "Query heads. Tensor parallelism gives each rank whole heads, so tp has to divide them.");
  table.number(member<model, &M::kv_heads>(), "kv_heads", "KV heads", "G", "", 1, kMaxHeads,
               "Key and value heads, each shared by heads / kv_heads query heads: equal to heads is multi-head, 1 is "
               "multi-query attention. With fewer KV heads than tp, each one is kept on tp / kv_heads ranks.");
  table.number(member<model, &M::head_dim>(), "head_dim", "Head size", "E", "", 1, kMaxHeadDim,
               "Width of one attention head. The score and context products cost 4 S^2 H E FLOPs per sequence and layer "
               "before masking.");
  table.number(member<model, &M::ffn>(), "ffn", "FFN size", "F", "", 1, kMaxFfn,
               "Inner width of the MLP; in a gated MLP the width of the gate and of the up projection each. Tensor "
               "parallelism splits it.");
  table.number(member<model, &M::vocab>(), "vocab", "Vocabulary", "V", "entries", 1, kMaxVocab,
               "Entries of the tokenizer, before padding. Embedding and head hold V x D each unless tied; the logits of "
               "the last stage can set its memory peak.");
  table.number(member<model, &M::positions>(), "positions", "Learned positions", "Smax", "tokens", 0, kMaxSeq,
               "Rows of the learned position table, the longest sequence such a model can take. 0 for models with "
               "rotary positions, which have no table.");
  table.number(member<model, &M::window>(), "window", "Sliding window", "W", "tokens", 0, kMaxSeq,
               "Tokens that the sliding attention layers of Mistral and Gemma 2 look back on, the query's own included. 0 "
               "lets them see the whole sequence. Changes the useful FLOPs; kernels are counted without any mask.");
  table.flag(member<model, &M::tied_embeddings>(), "tied_embeddings", "Tied embeddings",
             "Input embedding and output projection share one matrix. With pipeline stages the first and the last both "
             "hold it and reduce its gradient between them every step.");
}

void add_parallelism(TableWriter& table) {
  using P = ParallelSpec;
  constexpr auto parallel = &Design::parallel;
  table.group(KnobGroup::Parallelism);
  table.number(member<parallel, &P::tp>(), "tp", "Tensor parallel", "tp", "ranks", 1, kMaxWorld,
               "Splits heads, FFN and vocabulary over ranks. Divides parameters and matrix products, and costs two "
               "all-reduces of b S D per layer in forward and two in backward, on the critical path: keep it inside a node.");
  table.number(member<parallel, &P::pp>(), "pp", "Pipeline parallel", "pp", "stages", 1, kMaxWorld,
               "Splits the layers into stages. Sends only b S D between neighbours, but idles (pp - 1) / (m + pp - 1) "
               "of the time: it wants many microbatches m.");
  table.number(member<parallel, &P::cp>(), "cp", "Context parallel", "cp", "ranks", 1, kMaxWorld,
               "Ranks that share one sequence: each holds seq/cp tokens of every activation. Attention then gathers K and V, "
               "passes them round a ring, or exchanges heads for tokens, in every layer.");
  table.choice(named<parallel, &P::context, kContextModes>(), "context", "Context attention", choices_of(kContextModes),
               "How attention sees the whole sequence under context parallelism. all-gather: of K and V. ring: blocks of K and V "
               "go from rank to rank while the one at hand is worked on; a causal mask leaves the first rank little and the last "
               "one all to do. zigzag: rank i holds blocks i and 2 cp - 1 - i of 2 cp, so that all do equally much. ulysses: "
               "tokens are exchanged for heads by all-to-all, which needs KV heads that tp x cp divides. ulysses-ring and "
               "ulysses-zigzag: all-to-all among neighbours, a ring of such groups.");
  table.number(member<parallel, &P::ulysses_degree>(), "ulysses_degree", "Ulysses degree", "u", "ranks", 0, kMaxWorld,
               "Of ulysses-ring and ulysses-zigzag: neighbours that exchange tokens for heads; cp / u such groups form the ring. 0 "
               "takes as many as the KV heads allow. More of them send less, and over shorter ways.");
  table.number(member<parallel, &P::dp>(), "dp", "Data parallel", "dp", "replicas", 1, kMaxWorld,
               "Replicas of the model, each with its share of the batch. All gradients are reduced over them; what "
               "they shard of parameters and optimizer states is up to the gradient sync.");
  table.choice(named<parallel, &P::sync, kSyncStrategies>(), "sync", "Gradient sync", choices_of(kSyncStrategies),
               "What replicas do with gradients and states. ddp-flat keeps everything whole and all-reduces one flat buffer "
               "a step; ddp-buckets (PyTorch) does so in buckets of 25 MB while the last backward runs. distributed-optimizer (Megatron) reduce-scatters it, keeps 1/dp of the optimizer states and gathers "
               "the updated parameters. fsdp1 (PyTorch, FULL_SHARD, no_sync while accumulating) shards parameters too: each "
               "layer is gathered for its forward and again for its backward, embedding and head together once.");
  table.flag(member<parallel, &P::overlap_grad_reduce>(), "overlap_grad_reduce", "Overlap grad reduce",
             "Of ddp-flat and distributed-optimizer: gradients are reduced in buckets of at least 40 million elements (or a "
             "million per replica) as the last backward fills them, instead of all at its end.");
  table.flag(member<parallel, &P::sequence_parallel>(), "sequence_parallel", "Sequence parallel",
             "Splits norms and the residual stream over the tensor-parallel ranks by sequence. Saves activation memory; "
             "each all-reduce becomes a reduce-scatter and an all-gather of the same volume, and backward gathers the "
             "saved inputs of the first projections once more.");
  table.choice(named<parallel, &P::schedule, kSchedules>(), "schedule", "Pipeline schedule", choices_of(kSchedules),
               "Order of forward and backward on each stage. Both idle equally long; GPipe keeps activations of all m "
               "microbatches, 1F1B of at most pp - p on stage p (counted from 0). With virtual stages 1F1B is interleaved.");
  table.number(member<parallel, &P::virtual_stages>(), "virtual_stages", "Virtual stages", "v", "chunks per stage", 1, kMaxLayers,
               "Model chunks on each stage: a microbatch goes v times round the pipeline (interleaved 1F1B). The share that "
               "stages idle falls to (pp - 1) / (v m + pp - 1), at the price of v times the messages and more activations "
               "in flight. Wants layers that split over pp x v, and m in multiples of pp.");
  table.flag(member<parallel, &P::scatter_gather_pipeline>(), "scatter_gather_pipeline", "Scatter-gather messages",
             "Each tensor-parallel rank sends only its share b S D / tp to the next stage, and the receivers all-gather it "
             "over their fast links. With sequence parallelism messages are split already.");
  table.list(member<parallel, &P::stage_layers>(), "stage_layers", "Layers per stage", "layers", 0, kMaxLayers,
             "Layers of every stage, first to last, as in 7,8,8,9. Empty splits evenly, earlier stages taking the rest. "
             "Fewer layers on the first and last stage make up for embedding and head. With virtual stages pp x v numbers "
             "in the order of the model.");
  table.choice(kRankOrder, "rank_order", "Rank order", rank_orders(),
               "Mesh axes from the fastest to the slowest varying rank. The first axis gets neighbouring ranks and so "
               "the links inside a node; it changes no size, only which links carry it.");
}

void add_workload(TableWriter& table) {
  using W = WorkloadSpec;
  constexpr auto workload = &Design::workload;
  table.group(KnobGroup::Workload);
  table.number(member<workload, &W::seq>(), "seq", "Sequence length", "S", "tokens", 1, kMaxSeq,
               "Tokens per sequence. Activations and matrix products grow linearly, attention scores quadratically.");
  table.number(member<workload, &W::batch>(), "batch", "Global batch", "B", "sequences", 1, kMaxBatch,
               "Sequences per optimizer step over all replicas. Has to be a multiple of microbatch x dp.");
  table.number(member<workload, &W::microbatch>(), "microbatch", "Microbatch", "b", "sequences", 1, kMaxMicrobatch,
               "Sequences that go through a stage at once. Larger ones make larger kernels and more activation memory, "
               "and leave fewer microbatches m = B / (b dp) to fill the pipeline.");
  table.choice(named<workload, &W::dtype, kDtypes>(), "dtype", "Data type", choices_of(kDtypes),
               "Type of parameters and activations. The optimizer keeps a float32 master copy of the parameters and "
               "two moments, 12 bytes per parameter.");
  table.choice(named<workload, &W::grad_dtype, kGradDtypes>(), "grad_dtype", "Gradient type", choices_of(kGradDtypes),
               "Type in which gradients are accumulated over microbatches and reduced over replicas. bf16 halves both "
               "memory and traffic, at a loss of precision.");
  table.number(member<workload, &W::vocab_multiple>(), "vocab_multiple", "Vocabulary multiple", "", "entries", 1,
               kMaxVocabMultiple,
               "The vocabulary is padded to a multiple of this times tp, so that every rank holds equally many and "
               "well-aligned rows. 1 pads only as far as tp needs.");
  table.flag(member<workload, &W::gathered_logits>(), "gathered_logits", "Gather logits",
             "Gathers the logits of the whole vocabulary on every tensor-parallel rank and computes the loss there, as code without "
             "a vocabulary-parallel loss does. Keeps b S V values in float32 instead of 1/tp of them.");
  table.flag(member<workload, &W::dropout>(), "dropout", "Dropout",
             "Drops activations at random where the architecture says so (embedding, residual branches, attention scores). "
             "Keeps a mask of one byte per element for the backward.");
  table.choice(named<workload, &W::recompute, kRecompute>(), "recompute", "Recompute", choices_of(kRecompute),
               "What is computed again before the backward instead of being kept. Selective repeats the core of the "
               "attention; full keeps only the input of each layer and repeats its forward, collectives included.");
  table.flag(member<workload, &W::distribute_saved_activations>(), "distribute_saved_activations", "Distribute checkpoints",
             "Under full recompute without sequence parallelism every tensor-parallel rank keeps 1/tp of a layer's input and "
             "gathers it before the replay: one more all-gather of b S D per layer.");
  table.choice(member<workload, &W::profile>(), "profile", "Kernel profile", profiles(),
               "Which kernels run: how ops are fused and what each keeps for its backward. Decides activation memory.");
}

void add_cluster(TableWriter& table) {
  using C = ClusterSpec;
  constexpr auto cluster = &Design::cluster;
  table.group(KnobGroup::Cluster);
  table.choice(member<cluster, &C::accelerator>(), "accelerator", "Accelerator", accelerator_choices(),
               "Device of every rank: its memory is the capacity that a design has to fit. Peaks are dense.");
  table.number(member<cluster, &C::gpus_per_node>(), "gpus_per_node", "GPUs per node", "", "ranks", 1, kMaxGpusPerNode,
               "Ranks that share the fast links of a node, or of a rack-scale domain such as NVL72. Groups that reach "
               "beyond run over the network.");
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
