// A person's table of measured kernels and collectives, as CSV.
//
// The first line that is no comment (#) names the columns, in any order; a column may be left out where no row needs it.
//   op        matmul, attention, memory, or a collective: all_reduce, all_gather, reduce_scatter, all_to_all, broadcast, reduce, send_recv
//   us        microseconds of one run, mean or median over many
//   dtype     of the operands (bfloat16 when empty): bfloat16, float16, float32, float8, float8_block, mxfp8, nvfp4
//   m, n, k   matmul: m x k by k x n; batch (1 when empty) products in one kernel
//   batch, heads, kv_heads (heads), queries, keys (queries), head_dim, value_dim (head_dim), causal (0 or 1), backward (0), window (0: none)
//             attention; what stands in brackets is taken when the field is empty
//   bytes     memory: read and written; collectives: of the full buffer (gathered output, full input of a reduction, send buffer)
//   ranks, per_domain (ranks)   collectives: how many take part, and how many of them share a scale-up domain
#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/problem.h"
#include "machine/op_time.h"

namespace shardscape {

struct MeasuredMatmul {
  MatmulShape shape;
  double us = 0;
  int line = 0;  // of the table
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

// name: what messages call the file; they name the line too.
std::variant<MeasuredOps, Problem> read_measured_ops(const std::string& text, const std::string& name);
// A product that no such accelerator computes in its time: nanoseconds for microseconds, or another device's row. Nothing where there is none.
std::optional<Problem> impossible_row(const MeasuredOps& ops, const Accelerator& accelerator, const std::string& name);

}  // namespace shardscape
