// Designs side by side.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "design/knobs/knobs.h"
#include "plan/report.h"
#include "timing/simulation.h"

namespace shardscape {

struct ComparedDesign {
  std::shared_ptr<const Report> report;          // an estimate
  std::shared_ptr<const Simulation> simulation;  // nullptr: the design is not valid
};
ComparedDesign compared(const Design& design, std::shared_ptr<PlanCache> cache = {});

// A knob whose values differ.
struct ComparedKnob {
  const Knob* knob = nullptr;
  std::vector<std::string> values;  // one per design
};
std::vector<ComparedKnob> compare_knobs(const std::vector<Design>& designs);

enum class FigureKind { Seconds, Bytes, Share, Rate, Count };
struct ComparedFigure {
  std::string id, label, group;  // "step_seconds", "Step time", "Time"
  FigureKind kind = FigureKind::Count;
  std::vector<double> values;  // one per design; NaN: it has none
  std::string text(size_t design) const;
  double by(size_t design)
      const;  // more than the first; 0 where sums differ by rounding only; NaN where one has none
  std::string difference(size_t design) const;  // to the first: "-1.20 s", "same"
  std::string percent(
      size_t design) const;  // "-12.2 %", "< 0.1 %" either way; empty where it is the same, or the first is 0
};
// Times, rates, memory of the fullest rank and by category, collectives by op and group; the same rows for
// all.
std::vector<ComparedFigure> compare_figures(const std::vector<ComparedDesign>& designs);

}  // namespace shardscape
