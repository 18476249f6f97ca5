// The best designs that pass the filters: a column per dimension and figure.
#pragma once

#include <memory>

#include "ui/explore/explore_rows.h"
#include "ui/models/table_model.h"

namespace shardscape::ui {

class DesignsModel : public TableModel {
  Q_OBJECT
 public:
  static constexpr int kMost = 300;  // rows; more are in the exported CSV

  using TableModel::TableModel;
  // passing: per row, empty: all.
  void setDesigns(const ExploreRows& rows, const std::vector<char>& passing, UnitSystem units);
  void clear();
  int designAt(int table_row) const;  // a row of the ExploreRows; -1: none
  int tableRowOf(int row) const;      // -1: not in the table

 private:
  std::vector<int> shown_;
};

}  // namespace shardscape::ui
