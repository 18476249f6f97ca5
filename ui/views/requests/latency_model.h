// The latencies of a run as a table: mean and percentiles of TTFT, TPOT, ITL, end to end and queueing.
#pragma once

#include "serving/service/service.h"
#include "ui/plot/table_model.h"

namespace shardscape::ui {

class LatencyModel : public TableModel {
  Q_OBJECT
 public:
  using TableModel::TableModel;
  void setRun(const ServiceRun& run);  // cells over a limit are alarms
};

}  // namespace shardscape::ui
