// Sets of measured runs: what a step took, in time and memory, on real machines; each row as the design that
// describes it. A format is told by the fields of its rows; rows that were never seen before are read by the
// same fields.
#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/problem.h"
#include "design/design.h"

namespace shardscape {

// What a figure of memory is of: by tensors, or by the allocator (torch.cuda.max_memory_allocated,
// max_memory_reserved), with expandable segments, as torchtitan's run_train.sh has them.
enum class MemoryMeasure : uint8_t { Allocated, Reserved };

struct MeasuredRow {
  std::string name;      // "llama3_70b_l12_tp8_pp1_dp1_mbc8_cef"
  std::string unmapped;  // why no design says this; empty: design does
  Design design;
  std::optional<double> seconds;  // of a step; where there are none, no_seconds says why
  std::optional<double> bytes;    // on the worst rank; likewise
  std::string no_seconds = "the row has no time of a step", no_bytes = "the row has no figure of memory";
  MemoryMeasure measure = MemoryMeasure::Allocated;
};

struct MeasuredSet {
  std::string name, source;
  std::vector<MeasuredRow> rows;
};

// A Problem where the file cannot be read or its rows are of no known format.
std::variant<MeasuredSet, Problem> read_measured_set(const std::string& path);

}  // namespace shardscape
