// A sweep over rates as a table: a row per rate.
#pragma once

#include "serving/service/rate_sweep.h"
#include "ui/plot/table_model.h"

namespace shardscape::ui {

class RatesModel : public TableModel {
  Q_OBJECT
 public:
  using TableModel::TableModel;
  void setSweep(const RateSweep& sweep);  // rows follow the points; cells over a limit are alarms
};

}  // namespace shardscape::ui
