// What a selection stands for in the step at hand: the one place that says which ops belong to it, and which
// rows, segments of bars, boxes and groups every view marks. No widgets in here.
//
// Whatever was selected becomes ops of the graph, in some units and on a stage, and what a step has besides
// ops (gradient sync, messages, the optimizer). All else is marked that has one of these in it. Of its own
// kind nothing else is marked than what was selected.
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
  // Report: valid, or null. Simulation: of the report, or null; only spans need it.
  ResolvedSelection(const Selection& selection, std::shared_ptr<const Report> report,
                    std::shared_ptr<const Simulation> simulation);

  const Selection& selection() const { return selection_; }
  const Report* report() const { return report_.get(); }
  bool nothing() const { return selection_.kind == SelectionKind::Nothing; }
  bool on(int stage) const { return !nothing() && (selection_.stage < 0 || selection_.stage == stage); }
  bool op(int segment, OpId op) const;  // wherever unit() says
  bool unit(int unit) const {
    return !nothing() && (first_unit_ < 0 || (unit >= first_unit_ && unit < end_unit_));
  }
  std::pair<int, int> units() const { return {first_unit_, end_unit_}; }  // -1: wherever the ops are
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
  void takeNode();
  void takeRows();
  void takeTime();
  void takeSpan();
  bool counts(const CollectiveValue& row) const;  // of its own, or of what the step has besides ops
  bool atPeak(int stage, int segment, OpId op) const;
  bool runs(int stage, int chunk, SpanKind kind) const;
  void findTimes() const;

  Selection selection_;
  std::shared_ptr<const Report> report_;
  std::shared_ptr<const Simulation> simulation_;
  std::vector<std::vector<char>> ops_;  // by segment; empty: none of it
  bool any_ops_ = false;
  int first_unit_ = -1, end_unit_ = -1;  // -1: wherever the ops are
  bool optimizer_ = false, reduces_ = false, gathers_ = false, messages_ = false, step_ = false,
       host_ = false;
  std::optional<CollectiveValue> row_;  // Collective, and spans that are of one
  std::set<std::tuple<OpKind, Phase, DType>> flops_;
  uint32_t memory_ = 0;
  mutable std::optional<uint32_t> times_;  // made when somebody asks
  mutable std::map<std::tuple<int, int, SpanKind>, bool> runs_;
  mutable std::map<std::pair<int, int>, bool> names_;  // of collectives in the timeline, by stage and name
};

}  // namespace shardscape::ui
