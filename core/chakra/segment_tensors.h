// The tensors that the nodes of a segment read and write. Storages live from the node that writes them to the
// last node that reads them, as in the memory model (memory/segment_memory.h).
//
// A trace cannot express memory that no later node reads: workspaces and results that live during one op
// only. Parameters and gradients that accumulate have one tensor each for all microbatches.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "chakra/lower.h"
#include "memory/op_lifetimes.h"
#include "memory/segment_memories.h"

namespace shardscape {

class SegmentTensors {
 public:
  // Nodes of every op of the segment, in program order, as indices into RankProgram::ops.
  struct Nodes {
    std::vector<std::vector<uint32_t>> of;     // nodes that read the inputs of the op and write its outputs
    std::vector<std::vector<uint32_t>> sends;  // messages of a ring, which read the inputs of the op
  };
  // program: nodes index its ops.
  SegmentTensors(const Lowering& lowering, const Segment& segment, LayerClass of, const Binding& binding,
                 const Nodes& nodes, RankProgram& program);
  // Adds the tensors to the ops.
  void add();
  // Saved tensors of an offloaded layer: those that the copy to the host reads, and those that the copy back
  // writes.
  std::vector<TraceTensor> stored() const;
  std::vector<TraceTensor> loaded() const;

 private:
  using Part = SegmentLifetimes::Part;
  void add_part(Part part, OpId first, OpId last);
  void keep_deferred(OpId op);
  void add_deferred();
  void write(StorageId storage, OpId op, uint32_t node);
  void hand_over(const OpLifetimes& life, TensorId passed, NameScope in, NameScope out);
  void read_operands(OpId op);
  void read_storage(StorageId storage, const std::vector<uint32_t>& nodes);
  void read(uint32_t node, const TraceTensor& tensor);
  void add_gradient(const Op& op, uint32_t node);
  const std::vector<uint32_t>& nodes_at_or_after(OpId op) const;
  const std::vector<uint32_t>& nodes_at_or_before(OpId op) const;
  TraceTensor tensor(StorageId storage) const;
  TraceTensor parameter(TensorId id, const char* suffix, int64_t bytes) const;
  TraceTensor loaded(StorageId storage) const;
  int64_t bytes_of(StorageId storage) const;
  bool survives(Part part, StorageId storage) const;

  const Lowering& lowering_;
  const Segment& segment_;
  const LayerClass class_;
  const Binding& binding_;
  const Nodes& nodes_;
  std::vector<TraceOp>& ops_;
  const SegmentMemories memories_;
  const int index_;     // of the segment
  const int64_t pool_;  // bytes of gathered parameters
  const SegmentSizes sizes_;
  const std::set<StorageId> saved_;
  std::map<StorageId, TraceTensor> named_;  // storages whose name is not their own, at the present op
  std::map<StorageId, TraceTensor>
      stored_;                         // saved storages of an offloaded layer, as the forward names them
  std::map<StorageId, int> versions_;  // number of parts that write the storage
  std::set<std::string> gradients_;    // parameters' gradients that nodes make
  std::set<StorageId> alive_;
  std::set<StorageId> deferred_;        // storages that deferred weight gradients read
  std::optional<TraceTensor> given_;    // the gradient of the segment's output, where one of them reads it
  std::set<StorageId> begin_backward_;  // allocated before the backward's first op
  std::vector<OpId> running_;           // ops of the present part that have nodes
};

// Bytes of the gradient of a parameter on one rank, before it is reduced. 0: it has no memory of its own.
int64_t gradient_bytes(const SegmentMemories& memories, int segment, size_t param, const Binding& binding);
// The memory of gathered parameters (FSDP, ZeRO-3), one tensor during the whole step as in the memory model.
TraceTensor gathered_tensor(int64_t bytes);
// Bytes of this memory; 0: the design gathers no parameters.
int64_t gathered_bytes(const Report& report, const StageReport& stage);

}  // namespace shardscape
