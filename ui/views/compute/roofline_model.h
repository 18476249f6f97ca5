// The table of ops under the roofline: FLOPs, bytes, seconds, rates, and the share of the roof.
#pragma once

#include "ui/plot/comparison_cells.h"
#include "ui/views/compute/roofline_data.h"

namespace shardscape::ui {

class RooflineModel : public TableModel {
  Q_OBJECT
 public:
  enum Column { Operation, PhaseName, Type, Flops, Bytes, Intensity, Seconds, Rate, OfRoof };

  using TableModel::TableModel;
  // Rows follow the points from last to first: the longest op is on top.
  void setRoofline(const Report& report, const Roofline& roofline, UnitSystem units,
                   const std::vector<ComparedRoofline>& others = {});
  // The first of the columns of a compared design (index from 0): seconds, difference, difference in percent.
  static int takes(int others) { return OfRoof + 1 + kComparisonCells * others; }
};

}  // namespace shardscape::ui
