// The symbolic tensor graph of one design structure: placed forward ops, their derivatives, redistributions.
// One segment each for the embedding, every kind of layer, and the head with the loss; stages are made of segments.
// All expressions are per rank and per microbatch unless said otherwise.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "design/design.h"
#include "graph/op_kind.h"
#include "model/axis.h"
#include "parallel/pipeline_layout.h"
#include "parallel/placement.h"
#include "symbolic/expr.h"

namespace shardscape {

struct KernelStat;

using TensorId = int;   // index into Segment::tensors
using OpId = int;       // index into Segment::ops
using StorageId = int;  // index into Segment::storages

// Cache: lives on from step to step, in storages of its own.
enum class TensorRole : uint8_t { Input, Parameter, Activation, Gradient, ParameterGradient, Constant, Statistic, Cache };

struct Tensor {
  std::string name;              // unique in the segment: "attention.q", "attention.q.grad"
  std::vector<Axis> axes;        // meaning of each dimension
  std::vector<Expr> sizes;       // whole (unsharded) size of each dimension, within one microbatch of all replicas
  Placement placement;
  DType dtype = DType::BF16;
  TensorRole role = TensorRole::Activation;
  StorageId storage = -1;        // views share one
  OpId producer = -1;
  TensorId gradient_of = -1;     // for gradients
  TensorId again_of = -1;        // made again by a replay: the tensor of the forward that it stands for
};

// The memory under one or more tensors that are views of it.
struct Storage {
  std::string name;
  Expr bytes;                    // on one rank
};

// Attention whose K and V go round a ring of ranks. Zigzag: see ContextMode.
enum class Ring : uint8_t { None, Plain, Zigzag };

enum class GradRole : uint8_t { None, Input, Weight };  // Weight: the op's result is a parameter's gradient

// In which layers of a kind an op runs, where full recompute does not treat all of them alike.
enum class OpScope : uint8_t {
  Always,
  Recomputed,  // those that are replayed
  Checkpoint   // those that are replayed from an input of their own
};

// What a layer keeps of its forward until its backward.
enum class Keeps : uint8_t {
  Activations,  // all that its backward reads and no selected module makes again
  Input,        // a checkpoint: the rest is replayed
  Nothing       // replayed from the result of the layer before, in a group of layers that share a checkpoint
};

// Layers of one kind that are treated alike.
struct LayerClass {
  Keeps keeps = Keeps::Activations;
  bool offloaded = false;        // what they keep waits on the host
  auto operator<=>(const LayerClass&) const = default;
};

struct Op {
  std::string name;              // unique in the segment: "attention.q", "attention.q.grad_x"
  std::string label;             // what people call it: "Q projection"
  OpKind kind = OpKind::Einsum;
  Phase phase = Phase::Forward;
  GradRole grad = GradRole::None;
  int block = -1;                // index into Segment::blocks
  std::vector<TensorId> inputs, outputs;
  std::string spec;              // letters: "bsd,dhe->bshe"; also of pointwise ops and of gradients of einsums
  OpId forward = -1;             // the forward op this one differentiates or runs again
  bool remade = false;           // its result is not kept: the backward runs the op again (KernelProfile::recomputes)
  int operand = -1;              // gradients of one operand only: which
  bool causal = false, window = false, soft_cap = false, alibi = false, clamp = false;  // as OpSpec
  Ring ring = Ring::None;        // attention only
  MeshAxes group;                // collectives and slices: over which mesh axes
  int dim = -1;                  // all-gather: dimension joined; reduce-scatter, slice: dimension split
  // All-to-all: dimension split (dim is joined). Without it each rank is sent a copy, without dim what arrives is summed: B and C
  // of a mixer's group whose heads are spread over cp.
  int dim_to = -1;
  Reduce reduce = Reduce::Sum;
  DType compute = DType::BF16;   // precision of the arithmetic
  Expr flops, useful_flops;      // counted by kernels; exact under masks, of the tokens routed (asked_flops.h)
  Expr read_bytes, written_bytes;
  OpScope scope = OpScope::Always;
  RecomputeModules modules;      // forward ops: of which modules of selective recomputation they are part
  bool for_weights = false;      // of a backward: what the gradient of the segment's input does without
  std::string why;               // redistributions: producer's placement, consumer's placement, rule
};

// Whether this op repeats a forward op: recomputed layers, and what a kernel makes again within its backward.
inline bool runs_again(const Op& op) { return op.forward >= 0 && op.grad == GradRole::None; }

// A block template in place: "attention" from gqa_attention.
struct BlockInstance {
  std::string name, template_id, label;
};

struct SavedStorage {
  StorageId storage;
  OpId saver;                    // the forward op whose backward needs it (the first one)
};

struct Param {
  TensorId tensor;
  TensorId gradient;             // accumulated over microbatches; its placement says over which axes it is Partial; -1 in inference
  std::string tied;              // shared with every Param of the same key; never the key of one alone
  bool vocab_padded = false;
  bool quantized = false;        // its products read a quantized copy
};

enum class SegmentKind : uint8_t { Embedding, Layer, Head };

struct Segment {
  std::string name;              // "embedding", "layer", "head"
  SegmentKind kind = SegmentKind::Layer;
  std::vector<BlockInstance> blocks;
  std::vector<Tensor> tensors;
  std::vector<Storage> storages;
  std::vector<Op> ops;           // in order of execution: all forward ones, then backward
  OpId backward_begin = 0;       // first backward op
  OpId replay_end = 0;           // full recompute: the ops from backward_begin up to this one replay the whole segment
  TensorId input = -1;           // residual stream in; -1 for the embedding
  TensorId output = -1;          // residual stream out; the loss for the head, in inference logits of one token per sequence
  TensorId input_grad = -1, output_grad = -1;
  std::vector<Param> params;
  std::vector<TensorId> buffers; // of the model, but not trained by gradients
  std::vector<SavedStorage> saved;     // where full recompute is on, by layers that keep their input
  std::vector<SavedStorage> saved_whole;  // full recompute: by layers that it leaves alone
  std::vector<TensorId> cached;  // what inference keeps for the tokens to come, a part for every token
  std::vector<TensorId> caches;  // in inference: these as they are when the step is done, and states of mixers
  std::vector<SavedStorage> waiting;   // what the ops for weights read, where they run some time after the other backward ones
  std::vector<SavedStorage> waiting_whole;  // full recompute: the same in layers that it leaves alone
  std::vector<SavedStorage> replayed;  // made again before the backward of this segment, alive during it only

  const Tensor& tensor(TensorId id) const { return tensors[static_cast<size_t>(id)]; }
  const Op& op(OpId id) const { return ops[static_cast<size_t>(id)]; }
};

// Whether a layer that keeps this much runs the op.
bool runs(const Op& op, Keeps keeps);
// What such a layer keeps. Recompute on the whole is Keeps::Input, its absence Keeps::Activations.
std::vector<SavedStorage> saved_by(const Segment& segment, Keeps keeps);
// What it keeps between the gradient of its input and those of its weights.
const std::vector<SavedStorage>& waiting_in(const Segment& segment, Keeps keeps);
// Whether it is under the input of a layer: as it came, the share of it that is kept, or the whole gathered again.
bool holds_input(const Segment& segment, StorageId storage);
// Whether the op only names parts of a cache together, which lie side by side in it.
bool is_cache_view(const Segment& segment, const Op& op);
// Whether the values of an attention are a part of its keys: latents (DeepSeek-V2, arXiv 2405.04434, section 2.1.2). They are read once.
bool values_in_keys(const Segment& segment, const Op& op);
// The tensor of the forward that this one stands for, itself otherwise.
TensorId first_self(const Segment& segment, TensorId id);

inline int last_dim(const Tensor& tensor) { return static_cast<int>(tensor.axes.size()) - 1; }
// Elements of the part that one rank holds.
Expr local_elements(const Tensor& tensor);
// Local size of one dimension.
Expr local_size(const Tensor& tensor, int dim);
Expr local_bytes(const Tensor& tensor);
// "[b, S/tp, D]": what one rank holds.
std::string local_shape_text(const Tensor& tensor);
// Full-buffer elements of a collective: all-reduce the tensor, all-gather the gathered output, reduce-scatter the full
// input, all-to-all the whole send buffer; in a ring all messages that a rank sends.
Expr collective_elements(const Segment& segment, const Op& op);
Expr collective_bytes(const Segment& segment, const Op& op);
// How many messages a rank sends (and receives) for an op of a ring of n ranks: blocks visit n - 1 others; summands go all
// the way round.
Expr ring_messages(const Op& op);
Expr ring_message_elements(const Segment& segment, const Op& op);  // of one message: a rank's own block

// Every predicate that the graph depends on; designs with equal keys share one graph.
struct Structure {
  std::string architecture, profile;
  Mode mode = Mode::Train;
  DType cache_dtype = DType::BF16;  // of keys and values that inference keeps
  bool dp = false, cp = false, ulysses = false, tp = false, sequence_parallel = false, kv_split = false, pp = false, tied = false;
  bool dropout = false;
  bool window = false;           // attention that may slide has a window
  bool q_compressed = false;     // latent attention with a rank of queries
  int64_t mtp_layers = 0;        // depths of multi-token prediction
  bool ssm_heads = false;        // cp spreads the heads of the one group of mixers that a rank has, not its groups
  bool ssm_shared = false;       // cp spreads the groups of mixers that a rank has, and the heads of each: cp_groups x cp_heads
  bool dcp = false, dcp_groups = false;  // decode: ranks of tp share a context; several groups of them do
  bool cp_sequences = false;     // decode: cp splits the sequences of a microbatch outside of attention
  bool ring = false, zigzag = false;  // K and V go round a ring over cp, or over a part of it with ulysses inside
  bool interleaved = false;      // virtual stages
  bool split_backward = false;   // gradients of weights wait
  ChunkLayout layout = ChunkLayout::Round;
  bool scatter_gather = false;   // messages between stages are split over tp
  bool grouped = false;          // several query heads share a KV head (some kernels then expand the KV heads)
  bool many_microbatch = false;  // b > 1 (some kernels then copy)
  DType dtype = DType::BF16, grad_dtype = DType::FP32;
  DType compute = DType::BF16;   // of products with weights in layers: dtype, or quantized
  DType moment_dtype = DType::FP32;
  bool master_weights = true;    // 16-bit parameters have float32 copies
  Recompute recompute = Recompute::None;
  RecomputeModules recompute_modules;  // selective only
  bool recompute_groups = false;       // full, uniform: groups of several layers share a checkpoint
  bool recompute_block = false;        // full, block: some layers are not recomputed
  bool offload_optimizer = false, offload_activations = false;
  bool split_checkpoints = false;
  bool gathered_logits = false;
  // Of models with experts: which axes of their mesh are larger than one.
  bool ep = false, edp = false, etp = false;
  bool folded = false;           // experts' tensor parallelism has a degree of its own
  bool local_experts = false;    // several experts on a rank
  bool fp8_dispatch = false;     // tokens go to their experts in FP8, gradients into the backward of experts too
  bool derived_slots = false;    // slots of an expert follow from a capacity or an imbalance, not from an even split
  Dispatcher dispatcher = Dispatcher::AllToAll;
  bool ep_nodes = false, ep_local = false;  // tokens go once to each of several nodes; several ranks of ep share a node
  SyncStrategy sync = SyncStrategy::DdpFlat;  // with dp or cp only
  bool overlap = false;          // Megatron's policies: gradients are reduced in buckets during the backward
  bool accumulates = false;      // FSDP: gradients are kept whole until the last microbatch: m > 1, or as gathered_till_reduced
  bool every_microbatch = false; // gradients are reduced after each microbatch, not only after the last
  bool reshards = true;          // FSDP: units are freed between forward and backward
  bool gathered_till_reduced = false;  // FSDP2 in a pipeline: no backward but the one that reduces frees a unit
  bool hybrid = false;           // FSDP and Megatron's distributed optimizer: dp is split into dp_replicate x dp_shard
  bool edp_shards = false;       // hybrid: several ranks of a copy hold the same experts
  bool clip_grad_norm = false, average_loss = false;
  bool trains() const { return mode == Mode::Train; }
  // Whether chunks of a stage hold different numbers of microbatches, or hold them in two ways.
  bool chunkwise() const { return interleaved || split_backward; }
  auto operator<=>(const Structure&) const = default;
};

// What segments depend on; all else is as by default, so that what makes them cannot read it.
Structure structure_of_segments(Structure structure);

// The mesh axes that split the sequence: none, {cp}, or its two parts where Ulysses runs inside a ring.
MeshAxes cp_axes(const Structure& structure);
MeshAxes mixer_cp_axes(const Structure& structure);  // as mixers scan: cp_axes, or groups x heads
MeshAxes ring_axes(const Structure& structure);
// The mesh axes of tensor parallelism, and those of them over which KV heads go and over which the context of decoded sequences does.
MeshAxes tp_axes(const Structure& structure);
MeshAxes kv_axes(const Structure& structure);
MeshAxes dcp_axes(const Structure& structure);
MeshAxes ulysses_axes(const Structure& structure);
// The mesh axes that split experts: none, {ep}, or its parts over and inside nodes where tokens are sent once per node.
MeshAxes ep_axes(const Structure& structure);
MeshAxes node_axes(const Structure& structure);  // the first of these parts, where there are parts
// The size of a group, without the degrees that the structure has not: edp is a quotient of others.
Expr group_size(const Structure& structure, const MeshAxes& axes);

// Whether kernels of the structure make this statistic: its condition, but for shards of letters.
bool applies(const Structure& structure, const KernelStat& stat);

// Shared by all graphs whose segments depend on the same.
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

 private:
  std::shared_ptr<const std::vector<Segment>> made_;
};

struct Graph {
  Structure structure;
  Segments segments;              // embedding, layer kinds in order, head
  std::vector<int> layer_pattern; // layer i is segments[1 + pattern[i % size]] ...
  int lead_kind = -1;             // ... but for the dense layers that come first, which are of this kind
  // Kind of a layer: its segment is one more.
  int layer_kind(int64_t layer, const ModelSpec& model) const {
    if (lead_kind >= 0 && layer < model.dense_layers) return lead_kind;
    return layer_pattern[static_cast<size_t>(layer) % layer_pattern.size()];
  }
  bool one_kind() const { return segments.size() == 3; }
  int head() const { return static_cast<int>(segments.size()) - 1; }
};

}  // namespace shardscape
