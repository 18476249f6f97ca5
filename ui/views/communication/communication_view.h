// The Communication view: bytes that one rank of each stage communicates in a step, by group, or the mesh
// with the groups of the selected rank. The table lists all collectives of the selected stage.
#pragma once

#include "ui/plot/chart_page.h"

namespace shardscape::ui {

class CollectivesModel;
class MeshView;

class CommunicationView : public ChartPage {
  Q_OBJECT
 public:
  explicit CommunicationView(SelectionState* state, QWidget* parent = nullptr);
  CollectivesModel* model() const { return model_; }
  MeshView* mesh() const { return mesh_; }
  Picture picture() const override;

 protected:
  BarData bars(const Report& report) const override;
  void fillTable(const Report& report) override;
  QString caption(const Report& report) const override;
  QString csv(const Report& report) const override;
  Inspection inspectBar(const Report& report, int stage, int series) const override;
  bool rowsAreStages() const override { return false; }
  Inspection inspectRow(const Report& report, int row) const override;
  Selection selectionOfBar(const Report& report, int stage, int series) const override;
  Selection selectionOfRow(const Report& report, int row) const override;
  bool marksSeries(const Report& report, const ResolvedSelection& resolved, int stage,
                   int series) const override;
  bool marksRow(const Report& report, const ResolvedSelection& resolved, int row) const override;
  void explainAgain() override;

 private:
  CollectivesModel* model_;
  MeshView* mesh_;
};

}  // namespace shardscape::ui
