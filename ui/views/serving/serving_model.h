// Every point of a sweep as a row: figures of prefill and decode.
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
  // Rows follow the points; raw values equal those of sweep_table(). In a comparison, also the tokens per
  // second and GPU of the compared designs at the same point.
  void setSweep(const ServingSweep& sweep, Mode mode, const std::vector<ServingCanvas::OtherDesign>& others,
                UnitSystem units);
  static QList<int> leftOut(Mode mode);  // columns of the export only, or of the other phase
};

}  // namespace shardscape::ui
