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
#include "parallel/parallel_spec.h"
#include "parallel/placement.h"
#include "symbolic/expr.h"

namespace shardscape {

using TensorId = int;   // index into Segment::tensors
using OpId = int;       // index into Segment::ops
using StorageId = int;  // index into Segment::storages

enum class TensorRole : uint8_t { Input, Parameter, Activation, Gradient, ParameterGradient, Constant, Statistic };

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
};

// The memory under one or more tensors that are views of it.
struct Storage {
  std::string name;
  Expr bytes;                    // on one rank
};

// Attention whose K and V go round a ring of ranks. Zigzag: see ContextMode.
enum class Ring : uint8_t { None, Plain, Zigzag };

enum class GradRole : uint8_t { None, Input, Weight };  // Weight: the op's result is a parameter's gradient

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
  int operand = -1;              // gradients of one operand only: which
  bool causal = false, window = false, soft_cap = false, alibi = false;  // attention: as OpSpec
  Ring ring = Ring::None;        // attention only
  MeshAxes group;                // collectives and slices: over which mesh axes
  int dim = -1;                  // all-gather: dimension joined; reduce-scatter, slice: dimension split
  int dim_to = -1;               // all-to-all: dimension split (dim is joined)
  Reduce reduce = Reduce::Sum;
  Expr flops, useful_flops;      // counted by kernels; exact under masks
  Expr read_bytes, written_bytes;
  std::string why;               // redistributions: producer's placement, consumer's placement, rule
};

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
  TensorId gradient;             // accumulated over microbatches; its placement says over which axes it is Partial
  std::string tied;              // shared with every Param of the same key
  bool vocab_padded = false;
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
  TensorId input = -1;           // residual stream in; -1 for the embedding
  TensorId output = -1;          // residual stream out; the loss for the head
  TensorId input_grad = -1, output_grad = -1;
  std::vector<Param> params;
  std::vector<SavedStorage> saved;
  std::vector<SavedStorage> replayed;  // made again before the backward of this segment, alive during it only

  const Tensor& tensor(TensorId id) const { return tensors[static_cast<size_t>(id)]; }
  const Op& op(OpId id) const { return ops[static_cast<size_t>(id)]; }
};

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
  bool dp = false, cp = false, ulysses = false, tp = false, sequence_parallel = false, kv_split = false, pp = false, tied = false;
  bool dropout = false;
  bool window = false;           // attention that may slide has a window
  bool ring = false, zigzag = false;  // K and V go round a ring over cp, or over a part of it with ulysses inside
  bool interleaved = false;      // virtual stages
  bool scatter_gather = false;   // messages between stages are split over tp
  bool grouped = false;          // several query heads share a KV head (some kernels then expand the KV heads)
  bool many_microbatch = false;  // b > 1 (some kernels then copy)
  DType dtype = DType::BF16, grad_dtype = DType::FP32;
  Recompute recompute = Recompute::None;
  bool split_checkpoints = false;
  bool gathered_logits = false;
  SyncStrategy sync = SyncStrategy::DdpFlat;  // with dp or cp only
  bool overlap = false;          // Megatron's policies: gradients are reduced in buckets during the backward
  bool accumulates = false;      // FSDP: m > 1, so gradients are kept whole until the last microbatch
  auto operator<=>(const Structure&) const = default;
};

// The mesh axes that split the sequence: none, {cp}, or its two parts where Ulysses runs inside a ring.
MeshAxes cp_axes(const Structure& structure);
MeshAxes ring_axes(const Structure& structure);
MeshAxes ulysses_axes(const Structure& structure);

struct Graph {
  Structure structure;
  std::vector<Segment> segments;  // embedding, layer kinds in order, head
  std::vector<int> layer_pattern; // layer i is segments[1 + pattern[i % size]]
  int head() const { return static_cast<int>(segments.size()) - 1; }
};

}  // namespace shardscape
