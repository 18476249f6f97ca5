// Writes the traces of all ranks into a sink, in parallel. Memory is bounded by one file image per thread.
#pragma once

#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>
#include <variant>
#include <vector>

#include "base/problem.h"
#include "bundle/bundle.h"
#include "bundle/sink.h"
#include "chakra/groups.h"
#include "chakra/image.h"
#include "chakra/lower.h"
#include "chakra/step_window.h"

namespace shardscape {

// The trace files of a rank class: the ranks of one stage, or those at one ring position of a stage.
struct FileClass {
  int stage = 0;
  int64_t position = 0;
  std::vector<int64_t> ranks;          // ascending
  int64_t nodes = 0;                   // per rank
  int64_t collectives = 0, sends = 0;  // per rank
  int64_t bytes = 0;                   // all ranks together
  uint64_t digest = 0;                 // poly61_fold over the files in rank order
};

struct TraceTotals {
  int64_t ranks = 0, nodes = 0, collectives = 0, sends = 0, bytes = 0;
  std::vector<FileClass> classes;  // by stage, then position
};

class TraceExport {
 public:
  // The report must be valid and outlive this object. Throws LoweringError.
  TraceExport(const Report& report, const ExportOptions& options);
  // All steps of a window, which must outlive this object. Throws LoweringError.
  TraceExport(const StepWindow& window, const ExportOptions& options);
  // With the groups and rank classes of all traces.
  const Lowering& lowering() const { return window_ ? window_->reference() : *lowering_; }
  const GroupTable& groups() const { return groups_; }
  // Bytes of all traces, exact except for the width of rank and group numbers.
  int64_t estimate() const;
  // Writes all traces. Problems: of the sink, of the design (a number does not fit), or stopped_problem().
  Result<TraceTotals> write(ByteSink& sink, const ExportProgressFn& progress, std::stop_token stop) const;

 private:
  RankNumbers numbers(int64_t rank) const;
  RankProgram program(const FileClass& of, std::stop_token stop) const;
  // The rank classes, without their ranks.
  std::vector<FileClass> classes() const;
  friend class TraceWorkers;
  const Report& report_;
  ExportOptions options_;
  std::optional<Lowering> lowering_;    // of one step
  const StepWindow* window_ = nullptr;  // instead
  GroupTable groups_;
};

Problem stopped_problem();

}  // namespace shardscape
