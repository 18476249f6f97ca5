// The parts of one stage's bar, of all designs side by side: each value with its difference to the present design and that in percent.
#pragma once

#include "ui/charts/bar_data.h"
#include "ui/models/table_model.h"

namespace shardscape::ui {

class BesideModel : public TableModel {
  Q_OBJECT
 public:
  enum Column { Part, Present };
  // Of a design beside the present one, from 1 on.
  static int value(int member) { return Present + 3 * member - 2; }
  static int difference(int member) { return value(member) + 1; }
  static int percent(int member) { return value(member) + 2; }
  using TableModel::TableModel;
  void setBars(const BarData& data, int stage);
};

}  // namespace shardscape::ui
