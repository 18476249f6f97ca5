// Resolves a selection in a report and its step. This is the one place that decides which ops belong to a
// selection, and which rows, bar segments, boxes and groups the views mark. No widgets. A selection becomes
// ops of the graph (in some units, on a stage) and step parts without ops (gradient sync, messages, the
// optimizer). Views mark every element that contains one of these. Among elements of the selected kind, only
// the selected element is marked.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "plan/report.h"
#include "timing/simulation.h"
#include "ui/selection/selection.h"

namespace shardscape::ui {

class ResolvedSelection {
 public:
  ResolvedSelection() = default;
  // report: valid, or null. simulation: of the report, or null; only spans need it.
  ResolvedSelection(const Selection& selection, std::shared_ptr<const Report> report,
                    std::shared_ptr<const Simulation> simulation);

  const Selection& selection() const { return selection_; }
  const Report* report() const { return report_.get(); }
  bool nothing() const { return selection_.kind == SelectionKind::Nothing; }
  bool on(int stage) const { return !nothing() && (selection_.stage < 0 || selection_.stage == stage); }
  bool op(int segment, OpId op) const;  // in the units for which unit() is true
  bool unit(int unit) const {
    return !nothing() && (first_unit_ < 0 || (unit >= first_unit_ && unit < end_unit_));
  }
  std::pair<int, int> units() const { return {first_unit_, end_unit_}; }  // -1: every unit with the ops
  bool anyOps() const { return any_ops_; }
  std::optional<std::pair<int, OpId>> firstOp() const;  // segment and op
  bool flops(int stage, const FlopsValue& row) const;
  bool flops(int stage, FlopsGroup group, Phase phase) const;
  bool collective(int stage, const CollectiveValue& row) const;
  bool group(int stage, const std::string& name) const;
  bool memory(int stage, MemoryCategory category) const;
  bool time(TimeCategory category) const;
  bool span(int stage, int index) const;  // of the simulation

 private:
  template <typename Wanted>
  void choose(Wanted wanted);
  void resolveNode();
  void resolveRows();
  void resolveTime();
  void resolveSpan();
  bool counts(const CollectiveValue& row) const;  // the row counts the selected ops or step parts
  bool atPeak(int stage, int segment, OpId op) const;
  bool runs(int stage, int chunk, SpanKind kind) const;
  void findTimes() const;

  Selection selection_;
  std::shared_ptr<const Report> report_;
  std::shared_ptr<const Simulation> simulation_;
  std::vector<std::vector<char>> ops_;  // [segment][op]; empty: no op of the segment
  bool any_ops_ = false;
  int first_unit_ = -1, end_unit_ = -1;  // -1: every unit with the ops
  bool optimizer_ = false, reduces_ = false, gathers_ = false, messages_ = false, step_ = false,
       host_ = false;
  std::optional<CollectiveValue> row_;  // of a Collective, or of a span that is one
  std::set<std::tuple<OpKind, Phase, DType>> flops_;
  uint32_t memory_ = 0;
  mutable std::optional<uint32_t> times_;  // computed on first use
  mutable std::map<std::tuple<int, int, SpanKind>, bool> runs_;
  mutable std::map<std::pair<int, int>, bool>
      names_;  // of collectives in the timeline, by stage and name index
};

}  // namespace shardscape::ui
