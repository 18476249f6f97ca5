// The program of a rank class: a flat list of trace nodes in order of execution, for one step. Ranks of a
// class differ only in group numbers and in their own and their neighbours' ranks. Positions of a ring under
// a causal mask are classes of their own.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "chakra/chakra.h"

namespace shardscape {

// The prefix of the full name of a tensor or node.
enum class NameScope : uint8_t {
  Rank,           // "optimizer.parameters"
  Layer,          // "layer3.attention.wq": the same for every microbatch
  Microbatch,     // "mb0.layer3.attention.q"
  StreamIn,       // "mb0.stream.3": input of the segment at this position
  StreamOut,      // "mb0.stream.4": output of this segment
  StreamGradIn,   // "mb0.stream.3.grad"
  StreamGradOut,  // "mb0.stream.4.grad"
  Replayed,  // "mb0.stream.4.replayed": output of this segment, as the replay of a recompute group makes it
  Carried    // "mb0.carried.0": a tensor that later layers read, or its gradient
};

// The destination of a Send, or the source of a Recv.
enum class Peer : uint8_t { PreviousStage, NextStage, PreviousInRing, NextInRing };

// A tensor is written once. Nodes that change it in place read it.
enum class TensorUse : uint8_t {
  Plain,
  Parameter,
  Gradient,     // of a parameter: made for one microbatch, or in a buffer that exists before the step
  Accumulated,  // of a parameter: the node of the first microbatch (kFirstOfStep) makes it, later ones add to
                // it
  Passed        // an output that exists only if a later node reads it (kPassesOutput)
};

struct TraceTensor {
  std::string name{};
  NameScope scope = NameScope::Microbatch;
  int64_t bytes = 0;  // on one rank
  TensorUse use = TensorUse::Plain;
};

// A tensor with its full name.
struct NamedTensor {
  std::string name;
  int64_t bytes = 0;
};
struct NodeTensors {
  std::vector<NamedTensor> inputs, outputs;
};

// An op of a segment with its numbers; many nodes share it.
struct TraceOp {
  std::string name{};   // without prefixes of microbatch and layer
  std::string place{};  // segment name, prefix of nodes outside layers of the language model
  chakra::NodeType type = chakra::NodeType::Comp;
  int64_t num_ops = 0, tensor_size = 0;                // Comp: counted FLOPs; Comp and memory nodes: bytes
  double seconds = 0;                                  // Comp, only with durations
  std::optional<chakra::CollectiveType> collective{};  // Coll
  int role = -1;                                       // Coll: index of the group role
  int64_t comm_size = 0;            // bytes: own shard of an all-gather, otherwise the local buffer
  Peer peer = Peer::PreviousStage;  // Send, Recv
  bool backward = false;            // Send, Recv: carries a gradient
  std::vector<TraceTensor> inputs{}, outputs{};  // only with tensors
};

// Flags of a node that decide which tensors it reads and writes.
inline constexpr uint8_t kFirstOfStep = 1;  // no earlier microbatch has this node
inline constexpr uint8_t
    kReplayedInput = 2;                      // the segment's input is NameScope::Replayed of the layer before
inline constexpr uint8_t kPassesOutput = 4;  // a later node reads the output of this one

struct TraceNode {
  uint32_t op = 0;          // index into RankProgram::ops
  int32_t microbatch = -1;  // -1: once a step
  int32_t layer = -1;       // layer of the model or of its vision tower; -1: not in a layer
  // Send, Recv between virtual stages: chunk of the virtual stage nearer to the embedding. -1: no chunks.
  int32_t chunk = -1;
  // Position of the segment along the residual stream: StageInstance::position.
  int32_t position = 0;
  // First index into RankProgram::deps: control dependencies, then data dependencies.
  uint32_t deps = 0;
  uint32_t ctrl_count = 0, data_count = 0;
  // Send, Recv in a ring: running number of the rank's ring messages, equal on both ends. -1: other nodes.
  int32_t message = -1;
  uint32_t action = 0;  // index into RankProgram::actions
  uint8_t flags = 0;
};

// The id of a node is its index plus one. Ids are priorities: the ready node with the lowest id runs first.
struct RankProgram {
  int stage = 0;
  int64_t ring_position = 0;
  int roles = 0;   // number of group roles of the whole job
  int chunks = 1;  // virtual stages per stage
  bool tensors = false;
  std::string pass = "mb";  // names of nodes and tensors begin with it and the number of the microbatch
  std::vector<std::string_view> actions{};  // names of the actions of the stage, in order: "forward"
  std::vector<TraceOp> ops{};
  std::vector<TraceNode> nodes{};
  std::vector<uint32_t> deps{};       // node ids
  std::vector<uint32_t> durations{};  // microseconds per node; empty without durations
  // By node: tensors in addition to those of its op. Only with tensors.
  std::map<uint32_t, NodeTensors> extra{};

  std::span<const uint32_t> ctrl_deps(const TraceNode& n) const {
    return {deps.data() + n.deps, n.ctrl_count};
  }
  std::span<const uint32_t> data_deps(const TraceNode& n) const {
    return {deps.data() + n.deps + n.ctrl_count, n.data_count};
  }
};

// The tag of a message: distinct per microbatch, chunk and direction, small, not negative, and equal on both
// ends.
inline int32_t message_tag(const TraceNode& node, int chunks, bool backward) {
  if (node.message >= 0) return node.message;
  return 2 * (node.microbatch * chunks + (node.chunk < 0 ? 0 : node.chunk)) + (backward ? 1 : 0);
}

}  // namespace shardscape
