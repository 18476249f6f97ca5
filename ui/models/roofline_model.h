// Ops under the roofline: FLOPs, bytes, both rates, and how far each is below its roof.
#pragma once

#include "ui/charts/roofline_data.h"
#include "ui/models/table_model.h"

namespace shardscape::ui {

class RooflineModel : public TableModel {
  Q_OBJECT
 public:
  enum Column { Operation, PhaseName, Type, Flops, Bytes, Intensity, Seconds, Rate, OfRoof };

  using TableModel::TableModel;
  // Rows follow the points from last to first: what takes longest on top.
  void setRoofline(const Report& report, const Roofline& roofline, UnitSystem units);
};

}  // namespace shardscape::ui
