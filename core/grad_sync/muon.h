// Muon (Jordan et al., 2024; Liu et al., arXiv 2502.16982, "Muon is scalable for LLM training"; Kimi K2,
// arXiv 2507.20534): the momentum of every matrix of a layer is orthogonalized by Newton-Schulz iterations in
// bfloat16.
//
// Tensor parallelism: every rank orthogonalizes its own part of a matrix (Megatron-core's default,
// --muon-tp-mode blockwise), so no collective splits or joins matrices over tp. A distributed optimizer: the
// ranks of a shard group gather the momentum of all matrices in bfloat16, and each orthogonalizes an equal
// share of them (Distributed Muon, arXiv 2502.16982, section 2.3 and algorithm 1). ZeRO-1 and ZeRO-2: every
// rank stores the momentum of the matrices in its partition and orthogonalizes them, without a gather
// (DeepSpeed, stage_1_and_2.py, get_flat_partition; a matrix across two partitions counts by its shares).
// Otherwise every rank orthogonalizes all its matrices. Buffers of the iterations are not counted: a few
// matrices of one layer.
#pragma once

#include <vector>

#include "grad_sync/sync_groups.h"
#include "graph/graph.h"
#include "graph/stage_symbols.h"

namespace shardscape {

// Iterations per step (Jordan et al.; arXiv 2502.16982, section 2.1).
inline constexpr int64_t kNewtonSchulzSteps = 5;

// Whether Muon updates the parameter: a matrix that a GEMM of a layer multiplies. Embedding, head, norms,
// biases, routers and convolutions have Adam.
bool is_muon_matrix(const Structure& structure, const Segment& segment, const Param& param);

// Matrices of one shape on a rank, before data parallelism shards them. Experts have a matrix each.
struct MuonMatrices {
  Expr rows, columns;
  Expr count;
  ReplicaGroup replicas;
  // Ranks that share the matrices: the shard group of a distributed optimizer, ZeRO-1 or ZeRO-2; otherwise 1.
  Expr ranks{1};
  Expr elements() const { return count * rows * columns; }
};
// Empty without Muon.
std::vector<MuonMatrices> muon_matrices(const Graph& graph, ModelStart first, bool last, bool has_layers);

// The matrices of a stage with the symbols of `derived`, to define in order.
struct MuonWork {
  std::vector<MuonMatrices> matrices;
  std::vector<DerivedSymbol> derived;
  Expr owned;  // elements whose momentum the rank stores
  // FLOPs of a rank in a step. Of m x n matrices with m <= n, an iteration computes X X^T, its square, and
  // the product with X: 4 m^2 n + 2 m^3 FLOPs.
  Expr flops;
  // All-gathers of momentum in bfloat16, one per group: elements of the gathered buffer.
  struct Gather {
    MeshAxes axes;
    Expr elements;
  };
  std::vector<Gather> gathers;
};
MuonWork muon_work(const Graph& graph, ModelStart first, bool last, bool has_layers);

}  // namespace shardscape
