// Every collective and transfer of one rank in a step, with sizes of the full buffers.
#pragma once

#include "report/report.h"
#include "ui/models/table_model.h"

namespace shardscape::ui {

class CollectivesModel : public TableModel {
  Q_OBJECT
 public:
  static constexpr int kAllStages = -1;
  enum Column { Stage, PhaseName, Op, Group, Size, Type, Count, Elements, Bytes, Formula };

  using TableModel::TableModel;
  // Rows follow the order of StageReport::collectives.
  void setReport(const Report& report, int stage, UnitSystem units);
};

}  // namespace shardscape::ui
