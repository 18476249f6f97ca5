// Comparison of designs: differing knobs and figures, one column per design.
#pragma once

#include <map>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "accuracy/ratio_errors.h"
#include "design/knobs/knobs.h"
#include "plan/report.h"
#include "timing/simulation.h"

namespace shardscape {

struct ComparedDesign {
  std::shared_ptr<const Report> report;          // an estimate
  std::shared_ptr<const Simulation> simulation;  // null: the design is invalid
};
// Without a report if it was stopped.
ComparedDesign compared(const Design& design, std::shared_ptr<PlanCache> cache = {},
                        std::stop_token stop = {});

// A knob whose value differs between the designs.
struct ComparedKnob {
  const Knob* knob = nullptr;
  std::vector<std::string> values;  // one per design
};
std::vector<ComparedKnob> compare_knobs(const std::vector<Design>& designs);

enum class FigureKind { Seconds, Bytes, Share, Rate, Count };
// Cost: of a million tokens, and of the training run. StepParts: seconds of the step by category. Memory:
// bytes of the fullest rank by category.
enum class FigureGroup { Size, Time, Cost, StepParts, Memory, Collectives };
std::string_view figure_group_label(FigureGroup group);  // "Time"
// Tie: the 80 % band of the ratio of both designs contains 1 (accuracy/ratio_errors.h). Designs of different
// workloads are a tie if their 80 % bands overlap (accuracy/error_band.h).
enum class Verdict { None, Better, Worse, Tie };
struct ComparedFigure {
  std::string id, label;  // "step_seconds", "Step time"
  FigureGroup group = FigureGroup::Size;
  FigureKind kind = FigureKind::Count;
  std::vector<double> values;  // one per design; NaN: not available
  // Low and high end of the 80 % band per design, NaN without a band. Empty for figures without bands: those
  // that follow neither from the step time alone nor from the memory in use.
  std::vector<std::pair<double, double>> bands = {};
  // Of two designs of one workload, the smaller index first.
  std::map<std::pair<size_t, size_t>, std::shared_ptr<const RatioErrors>> ratios = {};
  std::string text(size_t design) const;
  // "8.41 s to 10.3 s"; empty without a band.
  std::string band(size_t design) const;
  // Value of a design minus the value of the baseline, an index too. 0 if the difference is rounding only;
  // NaN if a value is missing.
  double change(size_t design, size_t baseline = 0) const;
  // change() as text: "-1.20 s", "same"
  std::string difference(size_t design, size_t baseline = 0) const;
  // change() in percent of the baseline: "-12.2 %"; "< 0.1 %" for smaller changes of either sign. Empty if
  // the values are equal or the baseline is 0.
  std::string percent(size_t design, size_t baseline = 0) const;
  // "4.2 % less (1.0 % to 7.3 %), 93 % sure" relative to the baseline. Empty for equal values, and without
  // errors of the ratio.
  std::string judged_ratio(size_t design, size_t baseline = 0) const;
  // Whether two designs with different values are a tie.
  bool tie(size_t design, size_t baseline = 0) const;
  // Of the change, unless it is a tie: less time, memory, cost and communication is better, and more
  // throughput. None for sizes, and where nothing changes.
  Verdict verdict(size_t design, size_t baseline = 0) const;
};
// Times, rates, costs, memory of the fullest rank (total and by category), collectives by op and group. All
// designs have the same rows.
std::vector<ComparedFigure> compare_figures(const std::vector<ComparedDesign>& designs);

}  // namespace shardscape
