// Reads a CSV table of measured kernels and collectives.
//
// The first line that is not a comment (#) names the columns, in any order. A column may be omitted if no row
// needs it. An empty field takes the default in brackets.
// - op: matmul, attention, memory, or a collective: all_reduce, all_gather, reduce_scatter, all_to_all,
//   broadcast, reduce, send_recv.
// - us: microseconds of one run; mean or median of many.
// - dtype [bfloat16]: type of the operands: bfloat16, float16, float32, float8, float8_block, mxfp8, nvfp4.
// - m, n, k, batch [1]: matmul: m x k by k x n, `batch` products in one kernel.
// - batch, heads, kv_heads [heads], queries, keys [queries], head_dim, value_dim [head_dim], causal [0],
//   backward [0], window [0: none]: attention.
// - bytes: memory: bytes read and written. Collectives: bytes of the full buffer (gathered output, full input
//   of a reduction, send buffer).
// - ranks, per_domain [ranks]: collectives: ranks of the group, and of these in one scale-up domain.
#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/problem.h"
#include "performance/op_time.h"

namespace shardscape {

struct MeasuredMatmul {
  MatmulShape shape;
  double us = 0;
  int line = 0;  // line in the table; 0: not of a table
};
struct MeasuredAttention {
  AttentionShape shape;
  double us = 0;
};
struct MeasuredMemory {
  double bytes = 0, us = 0;
};
struct MeasuredCollective {
  std::string op;
  int64_t ranks = 0, per_domain = 0;
  double bytes = 0, us = 0;
};

struct MeasuredOps {
  std::vector<MeasuredMatmul> matmul;
  std::vector<MeasuredAttention> attention;
  std::vector<MeasuredMemory> memory;
  std::vector<MeasuredCollective> collectives;
  size_t rows() const { return matmul.size() + attention.size() + memory.size() + collectives.size(); }
};

// name: the name of the file in messages, which also give the line.
Result<MeasuredOps> read_measured_ops(const std::string& text, const std::string& name);
// The first matrix product whose time exceeds the peak of the accelerator by far: nanoseconds instead of
// microseconds, or a row of another device. nullopt if there is none.
std::optional<Problem> impossible_row(const MeasuredOps& ops, const Accelerator& accelerator,
                                      const std::string& name);

}  // namespace shardscape
