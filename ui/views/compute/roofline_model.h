// Ops under the roofline: FLOPs, bytes, both rates, and how far each is below its roof.
#pragma once

#include "ui/plot/comparison_cells.h"
#include "ui/views/compute/roofline_data.h"

namespace shardscape::ui {

class RooflineModel : public TableModel {
  Q_OBJECT
 public:
  enum Column { Operation, PhaseName, Type, Flops, Bytes, Intensity, Seconds, Rate, OfRoof };

  using TableModel::TableModel;
  // Rows follow the points from last to first: what takes longest on top.
  void setRoofline(const Report& report, const Roofline& roofline, UnitSystem units,
                   const std::vector<ComparedRoofline>& others = {});
  // Of a compared design, counted from 0: what it takes, the difference and that in percent.
  static int takes(int others) { return OfRoof + 1 + kComparisonCells * others; }
};

}  // namespace shardscape::ui
