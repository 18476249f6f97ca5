// Every point of a sweep as a row: what it takes to read its prompts, and to make its tokens.
#pragma once

#include "report/inference_report.h"
#include "serving/inference.h"
#include "ui/plot/table_model.h"
#include "ui/views/serving/serving_canvas.h"

namespace shardscape::ui {

class ServingModel : public TableModel {
  Q_OBJECT
 public:
  using TableModel::TableModel;
  // In the order of the points; raw values are those of sweep_table(). In a comparison: their tokens per
  // second and GPU at the same point.
  void setSweep(const ServingSweep& sweep, Mode mode, const std::vector<ServingCanvas::OtherDesign>& others,
                UnitSystem units);
  static QList<int> leftOut(Mode mode);  // columns that only the export wants, or the other phase
};

}  // namespace shardscape::ui
