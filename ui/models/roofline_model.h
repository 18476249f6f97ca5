// Ops under the roofline: FLOPs, bytes, both rates, and how far each is below its roof.
#pragma once

#include "ui/charts/roofline_data.h"
#include "ui/models/beside_cells.h"

namespace shardscape::ui {

class RooflineModel : public TableModel {
  Q_OBJECT
 public:
  enum Column { Operation, PhaseName, Type, Flops, Bytes, Intensity, Seconds, Rate, OfRoof };

  using TableModel::TableModel;
  // Rows follow the points from last to first: what takes longest on top.
  void setRoofline(const Report& report, const Roofline& roofline, UnitSystem units, const std::vector<RooflineBeside>& beside = {});
  // Of a design beside the present one, counted from 0: what it takes, the difference and that in percent.
  static int takes(int beside) { return OfRoof + 1 + kBesideCells * beside; }
};

}  // namespace shardscape::ui
