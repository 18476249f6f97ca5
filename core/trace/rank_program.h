// What every rank of a pipeline stage runs in a step: a flat list of trace nodes in order of execution.
// Ranks of a stage differ only in the numbers of their groups and in their own and their neighbours' ranks; in a ring under a
// causal mask also by position.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "trace/chakra.h"

namespace shardscape {

// Where the full name of a tensor or node takes its prefix from.
enum class NameScope : uint8_t {
  Rank,             // "optimizer.parameters"
  Layer,            // "layer3.attention.wq": the same for all microbatches
  Microbatch,       // "mb0.layer3.attention.q"
  StreamIn,         // "mb0.stream.3": what flows into the segment at this position
  StreamOut,        // "mb0.stream.4"
  StreamGradIn,     // "mb0.stream.3.grad"
  StreamGradOut     // "mb0.stream.4.grad"
};

// Whom a Send goes to or a Recv comes from.
enum class Peer : uint8_t { PreviousStage, NextStage, PreviousInRing, NextInRing };

struct TraceTensor {
  std::string name;
  NameScope scope = NameScope::Microbatch;
  int64_t bytes = 0;  // on one rank
};

// What many nodes share: one op of a segment with its numbers.
struct TraceOp {
  std::string name{};  // without microbatch and layer
  std::string place{}; // segment name of nodes outside layers, prefixed to their names
  chakra::NodeType type = chakra::NodeType::Comp;
  int64_t num_ops = 0, tensor_size = 0;  // Comp; tensor_size also of memory nodes
  double seconds = 0;                    // Comp, where durations are wanted
  chakra::CollectiveType collective = chakra::CollectiveType::AllReduce;
  int role = -1;                         // Coll: index of the group role
  int64_t comm_size = 0;                 // bytes; of an all-gather the rank's own shard
  Peer peer = Peer::PreviousStage;       // Send, Recv
  bool backward = false;                 // Send, Recv: carries a gradient
  std::vector<TraceTensor> inputs{}, outputs{};  // only when tensors are wanted
};

struct TraceNode {
  uint32_t op = 0;           // index into RankProgram::ops
  int32_t microbatch = -1;   // -1: once a step
  int32_t layer = -1;        // of the whole model; -1: not in a layer
  int32_t chunk = -1;        // Send, Recv between virtual stages: chunk of the one nearer to the embedding; -1: no chunks
  int32_t position = 0;      // of the segment along the residual stream: 0 embedding, 1 + layer, 1 + layers head
  uint32_t deps = 0;         // first index into RankProgram::deps: control first, then data
  uint32_t ctrl_count = 0, data_count = 0;
  int32_t message = -1;      // Send, Recv in a ring: the number among those of the rank; equal on both ends
};

// The id of a node is its index plus one: ids are priorities, the lowest ready one runs first.
struct RankProgram {
  int stage = 0;
  int64_t ring_position = 0;
  int roles = 0;  // group roles of the whole job
  int chunks = 1; // virtual stages per stage
  bool tensors = false;
  std::vector<TraceOp> ops;
  std::vector<TraceNode> nodes;
  std::vector<uint32_t> deps;  // node ids
  std::vector<uint32_t> durations;  // of every node in microseconds; none where they are not wanted

  std::span<const uint32_t> ctrl_deps(const TraceNode& n) const { return {deps.data() + n.deps, n.ctrl_count}; }
  std::span<const uint32_t> data_deps(const TraceNode& n) const {
    return {deps.data() + n.deps + n.ctrl_count, n.data_count};
  }
};

// Distinct per microbatch, chunk and direction, small and not negative; equal on both ends.
inline int32_t message_tag(const TraceNode& node, int chunks, bool backward) {
  if (node.message >= 0) return node.message;
  return 2 * (node.microbatch * chunks + (node.chunk < 0 ? 0 : node.chunk)) + (backward ? 1 : 0);
}

}  // namespace shardscape
