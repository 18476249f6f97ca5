// The table of all collectives and transfers of one rank in a step, with sizes of the full buffers. In a
// comparison also the bytes of the compared designs.
#pragma once

#include <memory>
#include <vector>

#include "plan/report.h"
#include "ui/plot/comparison_cells.h"

namespace shardscape::ui {

class CollectivesModel : public TableModel {
  Q_OBJECT
 public:
  static constexpr int kAllStages = -1;
  enum Column { Stage, PhaseName, Op, Group, Size, Type, Count, Elements, Bytes, Formula };

  using TableModel::TableModel;
  struct OtherDesign {
    int member = 1;  // 1 is design B, see Comparisons::letter
    std::shared_ptr<const Report> report;
  };
  // The first of the columns of a compared design (index from 0): bytes on the stage at the same relative
  // place, difference, difference in percent.
  static int bytes(int others) { return Formula + 1 + kComparisonCells * others; }
  // Rows follow the order of StageReport::collectives.
  void setReport(const Report& report, int stage, UnitSystem units,
                 const std::vector<OtherDesign>& others = {});
};

}  // namespace shardscape::ui
