// Every point of a sweep as a row: what it takes to read its prompts, and to make its tokens.
#pragma once

#include "simulate/inference.h"
#include "ui/explore/serving_canvas.h"
#include "ui/models/table_model.h"

namespace shardscape::ui {

class ServingModel : public TableModel {
  Q_OBJECT
 public:
  using TableModel::TableModel;
  // In the order of the points; raw values are those of sweep_table(). Beside others: their tokens per second and GPU at the same point.
  void setSweep(const ServingSweep& sweep, Mode mode, const std::vector<ServingCanvas::Beside>& beside, UnitSystem units);
  static QList<int> leftOut(Mode mode);  // columns that only the export wants, or the other phase
};

}  // namespace shardscape::ui
