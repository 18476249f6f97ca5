// The table of all collectives and transfers of one rank in a step: their time, and the sizes of the full
// buffers. In a comparison also the bytes of the compared designs.
#pragma once

#include <memory>
#include <vector>

#include "timing/simulation.h"
#include "ui/plot/comparison_cells.h"

namespace shardscape::ui {

class CollectivesModel : public TableModel {
  Q_OBJECT
 public:
  static constexpr int kAllStages = -1;
  enum Column {
    Stage,
    PhaseName,
    Op,
    Group,
    Size,
    Level,
    Type,
    Count,
    Time,
    Exposed,
    PerCall,
    BusBandwidth,
    Elements,
    Bytes,
    Formula
  };

  using TableModel::TableModel;
  struct OtherDesign {
    int member = 1;  // 1 is the first pinned design, see Comparisons::letter
    std::shared_ptr<const Report> report;
  };
  // The first of the columns of a compared design (index from 0): bytes on the stage at the same relative
  // place, difference, difference in percent.
  static int bytes(int others) { return Formula + 1 + kComparisonCells * others; }
  // Rows follow the order of StageReport::collectives. simulation: of the report; null: no times.
  void setReport(const Report& report, const Simulation* simulation, int stage, UnitSystem units,
                 const std::vector<OtherDesign>& others = {});
};

}  // namespace shardscape::ui
