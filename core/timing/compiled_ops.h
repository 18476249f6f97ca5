// The ops of a graph as a machine sees them: which formula gives the seconds of an op, and where its numbers
// are. Compiled once per structure. Private to op_seconds.
#pragma once

#include <memory>
#include <vector>

#include "symbolic/program.h"
#include "timing/op_seconds.h"

namespace shardscape {

// Blocks of quantized types have scales: their bytes are whole only in multiples.
inline constexpr int64_t kByteScale = 128;

enum class OpRule : uint8_t { Nothing, Product, Attention, Ring, Scan, Collective, Exchange, Routing, Bytes };

// An op as the machine sees it: which formula, and where its numbers are in the program.
struct CompiledOp {
  OpRule rule = OpRule::Nothing;
  uint32_t first = 0;
  int whole = -1;    // FLOPs of the model, all ranks together; -1: not counted
  OpId beside = -1;  // of a gather or scatter over tp: the product that it can run beside
};

struct CompiledGraph {
  std::vector<std::vector<CompiledOp>> segments;
  ExprProgram program, whole;  // whole: FLOPs of the model
  OpReads reads;
};

std::shared_ptr<const CompiledGraph> compiled(const Report& report);

}  // namespace shardscape
