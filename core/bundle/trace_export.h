// The traces of a report or of a window of engine steps.
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
#include "bundle/trace_writer.h"
#include "chakra/groups.h"
#include "chakra/image.h"
#include "chakra/lower.h"
#include "chakra/step_window.h"

namespace shardscape {

class TraceExport : private TraceSource {
 public:
  // The report must be valid and outlive this object. Throws LoweringError.
  TraceExport(const Report& report, const ExportOptions& options);
  // All steps of a window, which must outlive this object. Throws LoweringError.
  TraceExport(const StepWindow& window, const ExportOptions& options);
  // With the groups and rank classes of all traces.
  const Lowering& lowering() const { return window_ ? window_->reference() : *lowering_; }
  int64_t ranks() const;  // that get a trace
  const GroupTable& groups() const { return groups_; }
  // A Problem if this computer has less memory than the programs of the traces take: the step has too many
  // microbatches. Ask before estimate() and write().
  std::optional<Problem> memory_problem() const;
  // Bytes of all files that write() makes, exact except for the width of rank and group numbers. Less if
  // stopped.
  int64_t estimate(const std::stop_token& stop) const;
  // Writes all traces, or with options.compact one per class. Problems: of the sink, of the design (a number
  // does not fit), or stopped_problem().
  Result<TraceTotals> write(ByteSink& sink, const ExportProgressFn& progress, std::stop_token stop) const;

  // The numbers of a rank. The first lowering().roles() are groups.
  RankNumbers numbers(int64_t rank) const;

 private:
  RankProgram program(const FileClass& of, const std::stop_token& stop) const;
  std::vector<FileClass> classes() const override;
  SlotTexts texts(const FileClass& of, size_t k) const override;
  std::unique_ptr<Encoder> encoder(FileClass& of, const std::stop_token& stop) const override;
  const Report& report_;
  ExportOptions options_;
  std::optional<Lowering> lowering_;    // of one step
  const StepWindow* window_ = nullptr;  // instead
  GroupTable groups_;
};

}  // namespace shardscape
