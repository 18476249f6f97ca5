// Bytes that one rank of each stage communicates in a step, by group, and every collective of the picked stage.
#pragma once

#include "ui/charts/chart_page.h"

namespace shardscape::ui {

class CollectivesModel;

class CommunicationView : public ChartPage {
  Q_OBJECT
 public:
  explicit CommunicationView(Session* session, QWidget* parent = nullptr);
  CollectivesModel* model() const { return model_; }

 protected:
  BarData bars(const Report& report) const override;
  void fillTable(const Report& report) override;
  QString caption(const Report& report) const override;
  QString csv(const Report& report) const override;
  Inspection inspectBar(const Report& report, int stage, int series) const override;
  Inspection inspectRow(const Report& report, int row) const override;

 private:
  CollectivesModel* model_;
};

}  // namespace shardscape::ui
