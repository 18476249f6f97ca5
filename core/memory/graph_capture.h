// The ops whose kernels the host replays as CUDA graphs (the knob cuda_graphs), and their memory.
//
// Megatron-core captures forwards and backwards in the order of the schedule into one memory pool
// (megatron/core/transformer/cuda_graphs.py, CudaGraphManager.global_mempool; full_cuda_graph.py; Transformer
// Engine, pytorch/graph.py, make_graphed_callables). A forward has a graph of its own for every microbatch in
// flight. Graphs read and write fixed addresses, so the pool keeps its largest size for the whole run. Inside
// the pool, a tensor of a later graph reuses the memory of a tensor that no graph reads any more. Tensors of
// other kernels never use the pool: the peak of a rank is the peak of the pool plus the peak of all other
// tensors, though the two happen at different times.
//
// The input of a graph is a static buffer in the pool. Transformer Engine keeps the outputs of whole layers
// as well, one more hidden state per layer in flight; this is not counted. Neither are executable graphs.
#pragma once

#include "memory/segment_memory.h"
#include "plan/report.h"

namespace shardscape {

// Allocator pool of a tensor. Eager: kernels that the host launches one by one.
enum class MemoryPool : uint8_t { Eager, Graphs };

// Whether the design trains with CUDA graphs.
bool captures_graphs(const Design& design);

class GraphCapture {
 public:
  // Modules with graphs of their own. Rest: all other ops of a layer, and ops outside of layers.
  enum class Module : uint8_t { Attention, Router, Rest };
  static constexpr size_t kModules = 3;

  GraphCapture(const Report& report, const Segment& segment);
  Module module_of(OpId id) const;
  bool captures(Module module) const;
  bool captures(OpId id) const { return captures(module_of(id)); }

 private:
  const Segment& s_;
  const CudaGraphs graphs_;
  const bool flex_, overlaps_shared_experts_;
  OpId router_ = 0, dispatch_ = 0;  // forward ops; the number of ops if there are none
};

// Sets the sizes of storages and workspaces in the other pool to 0. A captured op's results, and the tensors
// that a captured forward reads, are in the pool of graphs.
void keep_pool(const Report& report, MemoryPool pool, SegmentSizes& sizes);

}  // namespace shardscape
