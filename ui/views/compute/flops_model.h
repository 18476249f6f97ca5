// Time and FLOPs of one rank in a step by kind of op and phase, the FLOPs with their formula.
#pragma once

#include "timing/simulation.h"
#include "ui/plot/table_model.h"

namespace shardscape::ui {

// Counted: full matrix products. Useful: without masked scores, for routed tokens only.
enum class FlopsConvention { Counted, Useful };

class FlopsModel : public TableModel {
  Q_OBJECT
 public:
  static constexpr int kAllStages = -1;
  enum Column { Stage, Kind, PhaseName, Time, TimeShare, Counted, Useful, Share, Formula };

  using TableModel::TableModel;
  // convention: the FLOPs of the columns Share and Formula. simulation: of the report; null: no times. Rows
  // follow the order of StageReport::flops, then of the kernels without FLOPs (timed_without_flops).
  void setReport(const Report& report, int stage, FlopsConvention convention,
                 const Simulation* simulation = nullptr);
};

// The time of the kernels that a row of FLOPs belongs to; nullptr: kernels of other ops compute them.
const KernelTime* kernel_time(const Simulation& simulation, const StageReport& stage, const FlopsValue& row);
// The kernels of a stage that have a time but no FLOPs: copies, routing, the packing of exchanges.
std::vector<KernelTime> timed_without_flops(const Simulation& simulation, const StageReport& stage);
double kernel_seconds(const StageTimes& times);  // of all kernels
QString kernel_name(const KernelTime& time);     // "all to all"

const Quantity& flops_of(const FlopsValue& row, FlopsConvention convention);
Wide flops_total(const StageReport& stage, FlopsConvention convention);

}  // namespace shardscape::ui
