// The symbolic tensor graph of one design structure: placed forward ops, their derivatives, redistributions.
// A segment is the embedding, one kind of layer, or the head with the loss. A stage consists of segments.
// Expressions are per rank and per microbatch unless stated otherwise.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "design/design.h"
#include "graph/op_attributes.h"
#include "graph/op_kind.h"
#include "graph/tensor_role.h"
#include "mesh/pipeline_layout.h"
#include "model/axis.h"
#include "model/layer_pattern.h"
#include "model/layer_variant.h"
#include "symbolic/binding.h"
#include "symbolic/expr.h"
#include "symbolic/symbol_scope.h"

namespace shardscape {

struct KernelStat;
struct TowerTemplate;

using TensorId = int;   // index into Segment::tensors
using OpId = int;       // index into Segment::ops
using StorageId = int;  // index into Segment::storages

struct Tensor {
  std::string name;         // unique in the segment: "attention.q", "attention.q.grad"
  std::vector<Axis> axes;   // meaning of each dimension
  std::vector<Expr> sizes;  // unsharded size of each dimension: one microbatch of all replicas
  Placement placement;
  DType dtype = DType::BF16;
  TensorRole role = TensorRole::Activation;
  StorageId storage = -1;  // shared by views
  OpId producer = -1;
  // Gradients: the tensor whose gradient this is.
  TensorId gradient_of = -1;
  // Tensors of a replay: the forward tensor that this one repeats.
  TensorId repeat_of = -1;
};

// The memory under one or more tensors that are views of it.
struct Storage {
  std::string name;
  Expr bytes;  // on one rank
};

enum class GradRole : uint8_t { None, Input, Weight };  // Weight: the result is a parameter's gradient

// In which layers of a kind an op runs. Full recompute may treat layers of one kind differently.
enum class OpScope : uint8_t {
  Always,
  Recomputed,  // only in layers that are replayed
  Checkpoint   // only in layers that are replayed from a checkpoint of their own
};

// Checkpoint policy of a layer: what the layer saves of its forward for its backward.
enum class CheckpointPolicy : uint8_t {
  Activations,  // everything that the backward reads and no selected module recomputes
  Input,        // a checkpoint of the input; the layer is replayed from it
  // Nothing: the layer is replayed from the result of the previous layer; its group shares one checkpoint.
  Nothing
};

// Layers of one kind with the same checkpoint policy and offloading.
struct LayerClass {
  CheckpointPolicy checkpoint_policy = CheckpointPolicy::Activations;
  bool offloaded = false;  // saved tensors are on the host between forward and backward
  auto operator<=>(const LayerClass&) const = default;
};

// The common part of all ops, and the attributes of the op's kind.
struct Op {
  std::string name;   // unique in the segment: "attention.q", "attention.q.grad_x"
  std::string label;  // for people: "Q projection"
  OpKind kind = OpKind::Einsum;
  Phase phase = Phase::Forward;
  GradRole grad = GradRole::None;
  int block = -1;  // index into Segment::blocks
  std::vector<TensorId> inputs, outputs;
  // Letters, "bsd,dhe->bshe"; also for pointwise ops and for gradients of einsums. Redistributions have none.
  std::string spec;
  OpId forward = -1;  // the forward op that this op differentiates or repeats
  // The result is not saved: the backward runs the op again (KernelProfile::recomputes).
  bool recomputed_in_backward = false;
  // Gradient of a single operand: the index of the operand. Otherwise -1.
  int operand = -1;
  OpAttributes attributes;      // of the kind's family (OpTraits::family)
  DType compute = DType::BF16;  // type of the arithmetic
  std::optional<DType> stored;  // GEMMs: type of the weights in memory, where a checkpoint has a format
  // flops: counted, as kernels compute them. useful_flops: exact under masks, of routed tokens
  // (useful_flops.h).
  Expr flops, useful_flops;
  Expr read_bytes, written_bytes;
  OpScope scope = OpScope::Always;
  // Forward ops: the modules of selective recompute that contain the op.
  RecomputeModules modules;
  // Backward ops: the gradient of the segment's input does not depend on this op, so a split backward defers
  // it.
  bool deferrable = false;
};

// Attributes of an op: null for an op of another family.
inline const RopeAttributes* rope_of(const Op& op) { return std::get_if<RopeAttributes>(&op.attributes); }
inline const AttentionAttributes* attention_of(const Op& op) {
  return std::get_if<AttentionAttributes>(&op.attributes);
}
inline const RouterAttributes* router_of(const Op& op) {
  return std::get_if<RouterAttributes>(&op.attributes);
}
inline const SwiGluAttributes* swiglu_of(const Op& op) {
  return std::get_if<SwiGluAttributes>(&op.attributes);
}
inline const StreamGateAttributes* stream_gate_of(const Op& op) {
  return std::get_if<StreamGateAttributes>(&op.attributes);
}
inline const LinearScanAttributes* linear_scan_of(const Op& op) {
  return std::get_if<LinearScanAttributes>(&op.attributes);
}
inline const Redistribution* redistribution_of(const Op& op) {
  return std::get_if<Redistribution>(&op.attributes);
}
// Attributes of an attention, of a redistribution. Throw std::bad_variant_access for any other op.
inline const AttentionAttributes& attention_attributes(const Op& op) {
  return std::get<AttentionAttributes>(op.attributes);
}
inline const Redistribution& redistribution(const Op& op) { return std::get<Redistribution>(op.attributes); }
// The ring of an attention; Ring::None for any other op.
inline Ring ring_of(const Op& op) {
  const AttentionAttributes* attributes = attention_of(op);
  return attributes ? attributes->ring : Ring::None;
}

// Whether the op adds the gradients of a tensor that several ops read.
inline bool is_gradient_sum(const Op& op) {
  return op.kind == OpKind::Add && op.phase == Phase::Backward && op.forward < 0;
}

// Whether this op repeats a forward op: in a recomputed region, or within the backward of a kernel.
inline bool is_recomputation(const Op& op) { return op.forward >= 0 && op.grad == GradRole::None; }

// An instance of a block template: name "attention" of template self_attention.
struct BlockInstance {
  std::string name, template_id, label;
  bool concurrent = false;  // Architecture::concurrent names it
};

// The ops that one kernel computes, and how the code base runs the kernel (passes/fuse.cpp).
struct Kernel {
  OpId op = -1;           // names the kernel and has its seconds: its first GEMM, otherwise its last op
  std::vector<OpId> ops;  // in segment order
  Expr moved_bytes;       // bytes that the kernel reads and writes, per rank and microbatch
  // GEMMs: one GEMM per local expert, one after the other (KernelProfile::separate_experts).
  bool separate_experts = false;
  // Shared experts that run next to the routed experts (KernelProfile::concurrent_shared_experts).
  bool next_to_experts = false;
  // Attention: the name of the fused kernel if it is not the device's fastest (KernelRule::kernel).
  std::string fused_attention;
  // Attention: bytes per score (a query and a key of one head) that the kernels between the two matrix
  // products move. 0: one fused kernel keeps the scores on chip.
  double score_bytes = 0;
};

// A storage that is saved for the backward.
struct SavedStorage {
  StorageId storage;
  OpId saver;  // the first forward op whose backward reads the storage
};

// The part of the model that a parameter belongs to. Published counts exclude multi-token prediction.
enum class ModelPart : uint8_t { Language, Vision, Projector, Mtp };
inline constexpr int kModelPartCount = 4;

struct Param {
  TensorId tensor;
  // Accumulated over microbatches; its placement states the axes along which it is Partial. -1 in inference
  // and for frozen parameters. A tensor without a producer is zero: the loss does not depend on the
  // parameter, as on those that only pick keys.
  TensorId gradient;
  // Shared with every Param of the same key; empty where no other Param has the key.
  std::string tied;
  bool vocab_padded = false;
  bool quantized = false;  // GEMMs read a quantized copy
  ModelPart part = ModelPart::Language;
  // Inference from a checkpoint with weight formats: the format, and the bytes that one rank stores, scales
  // included. Plain: in the type of the tensor.
  WeightFormat format = WeightFormat::Plain;
  Expr stored_bytes{};
  bool frozen = false;  // training with adapters (LoRA) does not train the parameter
  // Frozen parameters: axes along which ranks hold copies of the parameter and compute for other tokens. FSDP
  // and ZeRO-3 shard the parameter over these axes.
  MeshAxes copies{};
};

// A tensor that inference caches for every token, and the type in which it is cached.
struct CachedTensor {
  TensorId tensor;
  DType dtype = DType::BF16;
  bool windowed = false;  // counted per sequence: no more than the tokens of a window
};

// A tensor that gradients do not train.
struct Buffer {
  TensorId tensor;
  ModelPart part = ModelPart::Language;
  bool counted = true;  // as a parameter of the model
};

// A tensor that one segment makes and later segments read. Readers share the memory of the maker, or of the
// first reader of their stage.
struct Carried {
  int index = 0;  // into Architecture::carries
  // in: as an earlier segment made it. out: as later segments read it; -1: none does.
  TensorId in = -1, out = -1;
  bool held = false;  // `in` came in a message or from a tower, and later readers share its memory
  // Gradients of both: the sum over later segments comes in as out_grad, with this segment's share it leaves
  // as in_grad. -1: none. Integers have none.
  TensorId in_grad = -1, out_grad = -1;
};

// Tower: a part of the vision tower, or its projector.
enum class SegmentKind : uint8_t { Embedding, Layer, Head, Tower };

struct Segment {
  std::string name;  // "embedding", "layer", "head"
  SegmentKind kind = SegmentKind::Layer;
  SymbolScope scope;  // sizes that differ from the model's
  // Instances in the model. Layers have symbols of their own (stage_symbols.h).
  Expr copies{1};
  std::vector<BlockInstance> blocks;
  std::vector<Tensor> tensors;
  std::vector<Storage> storages;
  std::vector<Op> ops;  // in order of execution: forward ops, then backward ops
  std::vector<Kernel> kernels;
  std::vector<int> kernel_of;  // by op: index into kernels; -1: a view, or a message of a ring attention
  OpId backward_begin = 0;     // first backward op
  // Full recompute: ops in [backward_begin, replay_end) replay the whole segment. Otherwise backward_begin.
  OpId replay_end = 0;
  // Residual stream in; embedding: the tokens of images, -1 without them; -1 for the patches of a tower.
  TensorId input = -1;
  // Residual stream out. Head: the loss; in inference the logits of one token per sequence.
  TensorId output = -1;
  TensorId input_grad = -1, output_grad = -1;
  std::vector<Carried> carried;
  std::vector<Param> params;
  std::vector<Buffer> buffers;
  std::vector<DerivedSymbol> derived;  // in Param::stored_bytes: numbers of blocks that share a scale
  // Storages saved between forward and backward. Under full recompute: by layers with
  // CheckpointPolicy::Input.
  std::vector<SavedStorage> saved;
  // Full recompute only: storages saved by layers with CheckpointPolicy::Activations.
  std::vector<SavedStorage> saved_without_recompute;
  // Tensors that inference caches for every token. In training, the tensors that inference would cache.
  std::vector<CachedTensor> cached;
  // Inference only: caches and mixer states after the step.
  std::vector<TensorId> caches;
  // Bytes of the mixer states that inference stores per sequence, on all ranks together.
  Expr state_bytes;
  // Storages that deferred weight gradients read. Under full recompute: in layers with
  // CheckpointPolicy::Input.
  std::vector<SavedStorage> deferred;
  // Full recompute only: storages that deferred weight gradients read in layers with
  // CheckpointPolicy::Activations.
  std::vector<SavedStorage> deferred_without_recompute;
  // Storages that the replay makes again; they live only during the backward of this segment.
  std::vector<SavedStorage> replayed;

  const Tensor& tensor(TensorId id) const { return tensors[static_cast<size_t>(id)]; }
  const Op& op(OpId id) const { return ops[static_cast<size_t>(id)]; }
  // The parameter of a tensor; nullptr: the tensor is no parameter.
  const Param* param(TensorId id) const {
    for (const Param& p : params)
      if (p.tensor == id) return &p;
    return nullptr;
  }
  // The kernel that computes the op; nullptr: none.
  const Kernel* kernel(OpId id) const {
    const int index = kernel_of[static_cast<size_t>(id)];
    return index < 0 ? nullptr : &kernels[static_cast<size_t>(index)];
  }
};

// The op that has the seconds of the op's kernel; the op itself without a kernel.
inline OpId timed_op(const Segment& segment, OpId id) {
  const Kernel* kernel = segment.kernel(id);
  return kernel ? kernel->op : id;
}

// The forward op that this op differentiates; for any other op, replays included, the op itself.
inline OpId forward_of(const Segment& segment, OpId id) {
  const Op& op = segment.op(id);
  return op.grad != GradRole::None && op.forward >= 0 ? op.forward : id;
}

// Whether a layer with this checkpoint policy runs the op.
bool runs(const Op& op, CheckpointPolicy checkpoint_policy);
// Storages saved by a layer with this checkpoint policy. Full recompute has CheckpointPolicy::Input, no full
// recompute CheckpointPolicy::Activations.
std::vector<SavedStorage> saved_by(const Segment& segment, CheckpointPolicy checkpoint_policy);
// Storages that a layer with this checkpoint policy holds between its input gradient and its deferred weight
// gradients.
const std::vector<SavedStorage>& deferred_in(const Segment& segment, CheckpointPolicy checkpoint_policy);
// Whether the storage holds the input of a layer: the input itself, a rank's share of the checkpoint, or the
// gathered checkpoint.
bool holds_input(const Segment& segment, StorageId storage);
// Whether the tensor is passed on to or comes from another segment as a carried tensor, or is the gradient of
// one.
bool is_carried(const Segment& segment, TensorId tensor);
// Whether the storage holds a carried tensor that an earlier segment of the stage made or received.
bool holds_earlier(const Segment& segment, StorageId storage);
// Whether the op only joins adjacent parts of one cache storage into a view; it moves no data.
bool is_cache_view(const Segment& segment, const Op& op);
// Whether the values of an attention are a part of its keys: latents (DeepSeek-V2, arXiv 2405.04434,
// section 2.1.2). Kernels read them once.
bool values_in_keys(const Segment& segment, const Op& op);
// The picked keys that a sparse attention reads, as an input of its forward op; -1: the attention is dense.
TensorId picked_keys(const Segment& segment, const Op& forward);
// Pairs of the queries of a prompt's last tokens, after cached ones, and the keys that they see: the pairs of
// the first C tokens of a sequence less those of the first C - S. nullopt: the attention, or the index, reads
// no cached tokens under a mask.
std::optional<Expr> pairs_after_cached(const Segment& segment, const Op& forward);
// Exact number of pairs of a query of `length` tokens and a key up to itself. In chunks of `chunk` tokens,
// `whole` of them whole, and a rest: chunk attention of Llama 4 (Transformers, chunked_overlay in
// masking_utils.py). Of a window, or of picked keys: the first queries see 1, 2, ..., `rising` keys, the
// others `others`.
Expr chunk_pairs(const Expr& chunk, const Expr& whole, const Expr& length);
Expr rising_pairs(const Expr& rising, const Expr& others, const Expr& length);
// Keys that a query of a sparse attention picks at most: Kp, or Kt in Kp blocks.
Expr picked_per_query(const Segment& segment, const Op& forward);
// The compressed keys that an attention reads in addition to keys of tokens, as an input of its forward op;
// -1: there are none.
TensorId compressed_keys(const Segment& segment, const Op& forward);
// The width of the sliding window in layers of the segment.
Expr window_width(const Segment& segment);
// Compressed keys that a query reads at most: those that it picks, or all.
Expr compressed_per_query(const Segment& segment, const Op& forward);
// Keys of tokens that a query reads at most, next to compressed keys: those in its window.
Expr window_per_query(const Segment& segment, const Op& forward);
// Pairs of a query of a sequence of `length` tokens and one of its first `keys` compressed keys. Query i
// (from 1) sees the keys of the floor(i / Cr) whole blocks so far: for K = keys, the sum of min(floor(i /
// Cr), K) is Cr K (K - 1) / 2 + K (length - Cr K + 1).
Expr compressed_pairs(const Segment& segment, const Expr& length, const Expr& keys);
// The forward tensor that a recomputed tensor repeats; any other tensor itself.
TensorId forward_original(const Segment& segment, TensorId id);

// Residual blocks: the axes with ResidualBlocks instead of GrownBlocks.
std::vector<Axis> ungrown(std::vector<Axis> axes);
// Vectors per token of the residual stream of a model with residual blocks; 1 for any other tensor.
Expr vectors_per_token(const Tensor& stream);
inline int last_dim(const Tensor& tensor) { return static_cast<int>(tensor.axes.size()) - 1; }
// Elements of one rank's shard.
Expr local_elements(const Tensor& tensor);
// Size of one dimension of one rank's shard.
Expr local_size(const Tensor& tensor, int dim);
Expr local_bytes(const Tensor& tensor);
// Shape of one rank's shard: "[b, S/tp, D]".
std::string local_shape_text(const Tensor& tensor);
// Full-buffer elements of a collective. All-reduce: the tensor. All-gather: the gathered output.
// Reduce-scatter: the full input. All-to-all: the whole send buffer. Ring: all messages that a rank sends.
Expr collective_elements(const Segment& segment, const Op& op);
Expr collective_bytes(const Segment& segment, const Op& op);
// Number of messages that a rank sends (and receives) for a ring op over n ranks: n - 1 for RingPass, because
// a block visits the other ranks; n for RingSum, because a gradient returns to its owner.
Expr ring_messages(const Op& op);
// Elements of one message: the block of one rank.
Expr ring_message_elements(const Segment& segment, const Op& op);

// Whether the tensor is a parameter that gradients do not train.
bool is_buffer(const Segment& segment, TensorId tensor);

// Share of the cached tokens that a decoded token attends to: 1, or the tokens of its chunk so far. The cache
// holds Wce tokens, the last of C; Wn whole chunks lie before the token.
Expr seen_of_cache(const Segment& segment, const Op& op);

// What the graph of layers of one kind depends on, where the model says more than its architecture.
struct LayerStructure {
  std::string name, kind;  // kind: of the architecture
  std::vector<int> sizes;  // sizes of its own, by row of kModelSizes
  bool window = false, chunk = false, q_compressed = false, grouped = false, local_experts = false;
  int kv_split = 0;
  bool one_kv_head = false;
  WeightFormats formats{};  // of all roles
  int64_t vectors = 0;      // Structure::vectors, holds_vectors
  bool holds_vectors = false;
  CarriedUse carried{};
  auto operator<=>(const LayerStructure&) const = default;
};

// Every property of a design that its graph depends on. Designs with equal structures share one graph.
// structure_fields.h says which other shared results depend on a member.
struct Structure {
  std::string architecture, profile;
  int64_t library = 0;  // ModelLibrary::content: what the names above mean
  Mode mode = Mode::Train;
  // Prefill after cached tokens of each sequence: attention reads the cache, with the new tokens in it, and
  // scans start from the cached states.
  bool cached_tokens = false;
  // Inference: the layers are one module for multi-token prediction (WorkloadSpec::draft_module).
  bool draft_module = false;
  DType cache_dtype = DType::BF16;  // type of cached keys and values in inference
  DType state_dtype = DType::FP32;  // type of the states of scans in inference
  bool dp = false, cp = false, ulysses = false, tp = false, sequence_parallel = false, pp = false,
       tied = false;
  // The split of tp by KV heads, where tp is larger: its position in kKvSplits plus 1; 0 without a split.
  int kv_split = 0;
  // That split has one part: all ranks of tp hold copies of the only KV head.
  bool one_kv_head = false;
  bool dropout = false;
  bool packed = false;        // a sequence packs Nd documents of Sd tokens (packs_documents)
  bool window = false;        // sliding-window attention has a window
  bool chunk = false;         // attention in chunks has a chunk
  bool q_compressed = false;  // latent attention compresses queries
  int64_t mtp_layers = 0;     // depth of multi-token prediction
  // Residual blocks: vectors per token of the stream that enters the head; 0 without residual blocks.
  // holds_vectors: the stream comes from another stage, so this stage holds all of them. Otherwise all but
  // the last vector belong to earlier layers of the stage.
  int64_t vectors = 0;
  bool holds_vectors = false;
  // Carried tensors of the embedding; in the structure of a layer, of this layer.
  CarriedUse carried;
  // LoRA: only the adapters of these matrices are trained.
  bool lora = false;
  LoraModules lora_modules{};
  // As in WorkloadSpec.
  bool lora_dropout = false, lora_packed = false;
  FrozenWeights frozen_dtype = FrozenWeights::Same;
  // Passes run the vision tower. frozen_tower: no gradients train it. tower_data: ranks share the images.
  bool images = false, frozen_tower = false, tower_data = false;
  bool vision_stage = false;      // the tower has a pipeline stage of its own
  bool vision_recompute = false;  // the backward replays layers of the tower from their inputs
  // The kinds of layers and their order, where the model says more than its architecture. window, chunk,
  // formats, q_compressed, grouped, kv_split, one_kv_head and local_experts above and below are those of
  // layers without sizes of their own.
  std::vector<LayerStructure> layers;
  WeightFormats formats;  // inference: of layers without formats of their own, embedding and head
  LayerPattern pattern;
  int lead_kind = -1;
  // Mixers: Hm heads instead of e D / P.
  bool ssm_free_heads = false;
  // Mixers: a rank has one group; cp splits the heads of this group, not groups.
  bool ssm_heads = false;
  // Mixers: cp splits both the groups of a rank and the heads of each group: cp_groups x cp_heads.
  bool ssm_shared = false;
  // Decode. dcp: ranks of tp share a context. dcp_groups: there are several groups of these ranks.
  bool dcp = false, dcp_groups = false;
  // Decode: outside of attention, cp splits the sequences of a microbatch.
  bool cp_sequences = false;
  // K and V move round a ring over cp, or over a part of cp with Ulysses inside.
  bool ring = false, zigzag = false;
  bool interleaved = false;     // several virtual stages per stage
  bool split_backward = false;  // weight gradients are deferred
  ChunkLayout layout = ChunkLayout::Round;
  bool scatter_gather = false;  // messages between stages are split over tp
  // Several query heads share a KV head; some kernels then expand the KV heads.
  bool grouped = false;
  bool many_microbatch = false;  // b > 1; some kernels then copy
  DType dtype = DType::BF16, grad_dtype = DType::FP32;
  // Type of GEMMs with weights in layers: dtype, or a quantized type.
  DType compute = DType::BF16;
  // Weights exist only in the type `compute`; WorkloadSpec::transposed_weights.
  bool fp8_params = false, transposed_weights = true;
  bool muon = false;  // matrices inside layers have one momentum (grad_sync/muon.h)
  DType moment_dtype = DType::FP32;
  bool master_weights = true;  // 16-bit parameters have float32 copies
  Recompute recompute = Recompute::None;
  RecomputeModules recompute_modules;  // selective recompute only
  bool recompute_groups = false;       // full, uniform: several layers share a checkpoint
  bool recompute_block = false;        // full, block: some layers are not recomputed
  // Saved tensors are cached in FP8 and E5M6 (passes/cache_activations.cpp). Not under full recompute.
  bool fp8_activations = false;
  bool fp8_inputs = false;     // inputs of activation functions are saved in FP8
  bool fp8_attention = false;  // GEMMs of attention run in FP8
  bool offload_optimizer = false, offload_activations = false, offload_part = false;  // part: Of / 1,000
  bool split_checkpoints = false;
  bool gathered_logits = false;
  // GEMMs do not add to the gradient buffer, although those of the kernel profile could: weight gradients are
  // WeightGradient::Fresh.
  bool separate_weight_gradients = false;
  // Models with experts: the axes of the expert mesh that are larger than one.
  bool ep = false, edp = false, etp = false;
  // The tensor parallelism of experts has its own degree.
  bool folded = false;
  // A rank holds several experts.
  bool local_experts = false;
  // Tokens travel to experts in FP8, and so do gradients into the backward of experts.
  bool fp8_dispatch = false;
  // Slots per expert follow from a capacity or a load imbalance instead of an even split.
  bool derived_slots = false;
  // Every expert computes all slots of its capacity.
  bool padded_slots = false;
  Dispatcher dispatcher = Dispatcher::AllToAll;
  // Tokens go once to each of several nodes. ep_local: several ranks of ep share a node.
  bool ep_nodes = false, ep_local = false;
  SyncStrategy sync = SyncStrategy::DdpFlat;  // only with dp or cp
  // Megatron's policies: gradients are reduced in buckets during the backward.
  bool overlap = false;
  // FSDP: whole gradients are accumulated until the last microbatch, with m > 1 or whole_until_reduced.
  bool accumulates = false;
  // Gradients are reduced after every microbatch instead of once a step.
  bool every_microbatch = false;
  // FSDP: units are freed between forward and backward.
  bool reshards = true;
  // FSDP2 in a pipeline: whole gradients of a unit are reduced once, after its last backward.
  bool whole_until_reduced = false;
  // FSDP2, Megatron-FSDP: of the backwards of a step, only the last one frees a unit.
  bool stays_after_backward = false;
  // Policies that shard in groups (shards_in_groups): dp is split into dp_replicate x dp_shard.
  bool hybrid = false;
  // Hybrid sharding: several ranks of one copy of the states hold the same experts.
  bool edp_shards = false;
  bool clip_grad_norm = false, average_loss = false;
  bool trains() const { return mode == Mode::Train; }
  // Whether attention reads keys and values from the cache.
  bool reads_cache() const { return mode == Mode::Decode || cached_tokens; }
  // Whether the chunks of a stage hold different numbers of microbatches, or microbatches before and after
  // their input gradient.
  bool chunkwise() const { return interleaved || split_backward; }
  auto operator<=>(const Structure&) const = default;
};

void add_to(CacheKey& key, const CarriedUse& use);
void add_to(CacheKey& key, const LayerStructure& layer);
// The structure of layers of one kind: as the whole, with the properties of these layers.
Structure structure_of_layer(const Structure& structure, const LayerStructure& layer);
// The sizes that differ from the model's: in these layers, or (nullptr) in all other segments.
SymbolScope scope_of(const Structure& structure, const LayerStructure* layer);
// The structure of a vision tower: as the whole, without the splits of the sequence and of KV heads.
Structure structure_of_tower(const Structure& structure);
// Inside a tower, batch counts images and seq the patches of one image. sizes: hidden size, heads and FFN
// size are those of the tower, too; its projector reads those of the language model.
SymbolScope tower_scope(const TowerTemplate& tower, bool sizes);

// Mesh axes that split the sequence: none, {cp}, or both parts of cp where Ulysses runs inside a ring.
MeshAxes cp_axes(const Structure& structure);
// Mesh axes of cp for mixers: cp_axes, or groups x heads.
MeshAxes mixer_cp_axes(const Structure& structure);
MeshAxes ring_axes(const Structure& structure);
// Mesh axes of tensor parallelism. kv_axes: those that split KV heads. dcp_axes: those that split the context
// in decode.
MeshAxes tp_axes(const Structure& structure);
MeshAxes kv_axes(const Structure& structure);
MeshAxes dcp_axes(const Structure& structure);
MeshAxes ulysses_axes(const Structure& structure);
// Mesh axes that split experts: none, {ep}, or its parts across and inside nodes where a token is sent once
// per node.
MeshAxes ep_axes(const Structure& structure);
// The part across nodes; empty where tokens are not sent once per node.
MeshAxes node_axes(const Structure& structure);
// Size of a group, with degrees that the structure lacks set to 1. edp is a quotient of other degrees.
Expr group_size(const Structure& structure, const MeshAxes& axes);

// Whether kernels of this structure make the statistic. Does not check conditions on shards of letters
// ("sharded:v").
bool applies(const Structure& structure, const KernelStat& stat);

// Immutable segments, shared by all graphs whose structures are equal in StructureUses::segments.
class Segments {
 public:
  Segments() : made_(std::make_shared<const std::vector<Segment>>()) {}
  explicit Segments(std::shared_ptr<const std::vector<Segment>> made) : made_(std::move(made)) {}
  const Segment& operator[](size_t i) const { return (*made_)[i]; }
  auto begin() const { return made_->begin(); }
  auto end() const { return made_->end(); }
  const Segment& front() const { return made_->front(); }
  const Segment& back() const { return made_->back(); }
  size_t size() const { return made_->size(); }
  const std::vector<Segment>& all() const { return *made_; }

 private:
  std::shared_ptr<const std::vector<Segment>> made_;
};

struct Graph {
  Structure structure;
  // Embedding, kinds of layer in order, head; then the parts of a vision tower in order of execution.
  Segments segments;
  int tower_parts = 0;  // segments of the tower
  // Indices of kinds. The dense layers at the start are of the kind lead_kind instead; -1: no such kind.
  LayerPattern layer_pattern;
  int lead_kind = -1;
  // Kind of a layer; its segment is segments[1 + kind].
  int layer_kind(int64_t layer, const ModelSpec& model) const {
    if (lead_kind >= 0 && layer < model.dense_layers) return lead_kind;
    return layer_pattern.at(layer, model.layers);
  }
  int kinds() const { return static_cast<int>(segments.size()) - 2 - tower_parts; }  // of layer
  bool one_kind() const { return kinds() == 1; }
  int head() const { return kinds() + 1; }
};

}  // namespace shardscape
