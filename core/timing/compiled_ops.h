// The ops of a graph for timing: the formula that gives the seconds of an op, and the place of its operands
// in one expression program. Compiled once per structure. Private to op_seconds.
#pragma once

#include <memory>
#include <vector>

#include "symbolic/program.h"
#include "timing/op_seconds.h"

namespace shardscape {

// Expressions of bytes are multiplied by this number, because the bytes of quantized types with their scales
// are fractions: 2,113 / 4,096 for 4 bits with double quantization.
inline constexpr int64_t kByteScale = 4096;

enum class OpRule : uint8_t {
  Nothing,
  Gemm,
  ExpertGemm,  // of several experts, in inference
  Attention,
  Index,
  Ring,
  Scan,
  Collective,
  Exchange,
  Routing,
  Bytes
};

struct CompiledOp {
  OpRule rule = OpRule::Nothing;  // the formula of the op's seconds
  uint32_t first = 0;             // index of the formula's first operand in CompiledGraph::program
  // Index in CompiledGraph::model_flops; -1: the op does not count.
  int model_flops = -1;
  // Gather or scatter over tp: the GEMM that the collective can overlap with; -1: none.
  OpId overlapped_gemm = -1;
  bool needs_rs_dgrad = false;  // the overlap needs ParallelSpec::tp_comm_overlap_rs_dgrad
};

struct CompiledGraph {
  std::vector<std::vector<CompiledOp>> segments;
  ExprProgram program;
  ExprProgram model_flops;  // of one microbatch and op, all ranks together
  OpReads reads;
};

std::shared_ptr<const CompiledGraph> compiled(const Report& report);

}  // namespace shardscape
