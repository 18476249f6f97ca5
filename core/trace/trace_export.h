// Traces of all ranks into a sink, in parallel, with memory bounded by one file image per thread.
#pragma once

#include <cstdint>
#include <stop_token>
#include <string>
#include <variant>
#include <vector>

#include "base/problem.h"
#include "trace/bundle.h"
#include "trace/groups.h"
#include "trace/image.h"
#include "trace/lower.h"
#include "trace/sink.h"

namespace shardscape {

// The files of the ranks of one stage, or of those at one position of its rings.
struct FileClass {
  int stage = 0;
  int64_t position = 0;
  std::vector<int64_t> ranks;        // ascending
  int64_t nodes = 0;                 // of one rank
  int64_t collectives = 0, sends = 0;  // of one rank
  int64_t bytes = 0;                 // of all ranks
  uint64_t digest = 0;               // poly61_fold over the ranks' files in rank order
};

struct TraceTotals {
  int64_t ranks = 0, nodes = 0, collectives = 0, sends = 0, bytes = 0;
  std::vector<FileClass> classes;    // by stage, then position
};

class TraceExport {
 public:
  // The report must be valid and outlive this. Throws LoweringError.
  TraceExport(const Report& report, const ExportOptions& options);
  const Lowering& lowering() const { return lowering_; }
  const GroupTable& groups() const { return groups_; }
  // Bytes of all traces but for the width of rank and group numbers.
  int64_t estimate() const;
  // A Problem of the sink, or of the design where a number does not fit; "stopped" where it was stopped.
  std::variant<TraceTotals, Problem> write(ByteSink& sink, const ExportProgressFn& progress, std::stop_token stop) const;

 private:
  RankNumbers numbers(int64_t rank) const;
  // Without their ranks.
  std::vector<FileClass> classes() const;
  friend class TraceWorkers;
  const Report& report_;
  ExportOptions options_;
  Lowering lowering_;
  GroupTable groups_;
};

Problem stopped_problem();

}  // namespace shardscape
