// The figures of a run next to those of pinned designs, with differences: a row per figure.
#pragma once

#include <vector>

#include "serving/service/service.h"
#include "ui/plot/table_model.h"

namespace shardscape::ui {

class ServiceComparisonModel : public TableModel {
  Q_OBJECT
 public:
  using TableModel::TableModel;
  struct Other {
    int member = 1;  // Comparisons::letter
    QString tip;     // name and settings
    std::shared_ptr<const ServiceRun> run;
  };
  void clear() { assign({}, {}); }
  // Differences for the better are marked.
  void setRuns(const ServiceRun& run, const std::vector<Other>& others);
};

}  // namespace shardscape::ui
