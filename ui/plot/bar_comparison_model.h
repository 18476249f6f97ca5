// A table of one stage's bar in all compared designs: the value of each pinned design with the difference of
// the present design to it, absolute and in percent.
#pragma once

#include "ui/plot/bar_data.h"
#include "ui/plot/table_model.h"

namespace shardscape::ui {

class BarComparisonModel : public TableModel {
  Q_OBJECT
 public:
  enum Column { Part, Present };
  // The columns of a compared design; member is 1 or higher.
  static int value(int member) { return Present + 3 * member - 2; }
  static int difference(int member) { return value(member) + 1; }
  static int percent(int member) { return value(member) + 2; }
  using TableModel::TableModel;
  void setBars(const BarData& data, int stage);
  // -1: the whole bar.
  int seriesAt(int row) const {
    return row > 0 && row <= static_cast<int>(series_.size()) ? series_[static_cast<size_t>(row - 1)] : -1;
  }
  int rowOf(int series) const;  // -1: no design has this series

 private:
  std::vector<int> series_;  // of the rows below the first
};

}  // namespace shardscape::ui
