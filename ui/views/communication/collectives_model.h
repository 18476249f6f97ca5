// Every collective and transfer of one rank in a step, with sizes of the full buffers; in a comparison,
// theirs.
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
    int member = 1;  // as Comparisons::letter counts
    std::shared_ptr<const Report> report;
  };
  // Of a compared design, counted from 0: bytes of the same on the stage in the same place, the
  // difference and that in percent.
  static int bytes(int others) { return Formula + 1 + kComparisonCells * others; }
  // Rows follow the order of StageReport::collectives.
  void setReport(const Report& report, int stage, UnitSystem units,
                 const std::vector<OtherDesign>& others = {});
};

}  // namespace shardscape::ui
