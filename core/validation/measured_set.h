// Sets of measured runs on real machines: time and memory of a training step, or latencies and throughput of
// a service. Every row maps to a design. The fields of the rows determine the file format, so new rows of a
// known format need no code.
#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/problem.h"
#include "design/design.h"
#include "validation/measured_collectives.h"
#include "validation/measured_serving.h"

namespace shardscape {

// What a memory figure counts: tensors or reserved segments (torch.cuda.max_memory_allocated,
// torch.cuda.max_memory_reserved), or everything on the device (nvidia-smi: reserved segments, the CUDA
// context and communicators).
enum class MemoryMeasure : uint8_t { Allocated, Reserved, InUse };

struct MeasuredRow {
  std::string name;      // "llama3_70b_l12_tp8_pp1_dp1_mbc8_cef"
  std::string unmapped;  // why the row maps to no design; empty: `design` is set
  Design design;
  std::optional<double> seconds;  // of a step; if empty, no_seconds has the reason
  std::optional<double> bytes;    // on the fullest rank, or of `stage`; if empty, no_bytes has the reason
  std::string no_seconds = "the row has no step time", no_bytes = "the row has no memory figure";
  MemoryMeasure measure = MemoryMeasure::Allocated;
  // Segments of the allocator: PyTorch's default, or expandable ones, as in torchtitan's run_train.sh.
  bool native_segments = false;
  std::optional<int> stage{};  // the stage whose ranks `bytes` is of; empty: the fullest rank
  // Whether the run gave figures, or failed. Empty: the set does not list failed runs.
  std::optional<bool> ran{};
  std::string cannot_run{};  // why the code base refuses the layout, so that `design` is not set
  std::optional<MeasuredServing> serving;  // of a serving point
};

struct MeasuredSet {
  std::string name, source;
  std::string folder;  // of the file
  std::vector<MeasuredRow> rows;
  std::vector<CollectiveMeasurement> collectives{};
};

// A Problem if the file is unreadable or the format of its rows is unknown.
Result<MeasuredSet> read_measured_set(const std::string& path);

}  // namespace shardscape
