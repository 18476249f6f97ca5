// The table of the best designs that pass the filters: a column per figure and dimension, objectives first.
#pragma once

#include <memory>

#include "ui/plot/table_model.h"
#include "ui/views/explore/explore_rows.h"

namespace shardscape::ui {

class DesignsModel : public TableModel {
  Q_OBJECT
 public:
  static constexpr int kMost = 300;  // the most rows; the exported CSV has all

  using TableModel::TableModel;
  // passing: per row, empty: all.
  void setDesigns(const ExploreRows& rows, const std::vector<char>& passing, UnitSystem units);
  void clear();
  int designAt(int table_row) const;    // a row of the ExploreRows; -1: none
  int tableRowOf(int row) const;        // -1: not in the table
  int tableColumnOf(int column) const;  // the table column of a column of the ExploreRows; -1: none

 private:
  std::vector<int> shown_, order_;
};

}  // namespace shardscape::ui
