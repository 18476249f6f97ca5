// Every collective and transfer of one rank in a step, with sizes of the full buffers; beside others, theirs.
#pragma once

#include <memory>
#include <vector>

#include "report/report.h"
#include "ui/models/beside_cells.h"

namespace shardscape::ui {

class CollectivesModel : public TableModel {
  Q_OBJECT
 public:
  static constexpr int kAllStages = -1;
  enum Column { Stage, PhaseName, Op, Group, Size, Type, Count, Elements, Bytes, Formula };

  using TableModel::TableModel;
  struct Beside {
    int member = 1;                // as Comparisons::letter counts
    std::shared_ptr<const Report> report;
  };
  // Of a design beside the present one, counted from 0: bytes of the same on the stage in the same place, the difference and that in percent.
  static int bytes(int beside) { return Formula + 1 + kBesideCells * beside; }
  // Rows follow the order of StageReport::collectives.
  void setReport(const Report& report, int stage, UnitSystem units, const std::vector<Beside>& beside = {});
};

}  // namespace shardscape::ui
