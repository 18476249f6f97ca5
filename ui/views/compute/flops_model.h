// FLOPs of one rank in a step by kind of op and phase, counted and useful, with the formula.
#pragma once

#include "plan/report.h"
#include "ui/plot/table_model.h"

namespace shardscape::ui {

// Counted: full matrix products. Useful: without masked scores, for routed tokens only.
enum class FlopsConvention { Counted, Useful };

class FlopsModel : public TableModel {
  Q_OBJECT
 public:
  static constexpr int kAllStages = -1;
  enum Column { Stage, Kind, PhaseName, Counted, Useful, Share, Formula };

  using TableModel::TableModel;
  // convention: the FLOPs of the columns Share and Formula. Rows follow the order of StageReport::flops.
  void setReport(const Report& report, int stage, FlopsConvention convention);
};

const Quantity& flops_of(const FlopsValue& row, FlopsConvention convention);
Wide flops_total(const StageReport& stage, FlopsConvention convention);

}  // namespace shardscape::ui
