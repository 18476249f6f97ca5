// The Communication view: what one rank of each stage communicates in a step, by group, as bytes or as time,
// or the mesh with the groups of the selected rank. The table lists all collectives of the selected stage.
#pragma once

#include "ui/plot/chart_page.h"

namespace shardscape::ui {

class CollectivesModel;
class MeshView;
class SegmentedControl;

class CommunicationView : public ChartPage {
  Q_OBJECT
 public:
  explicit CommunicationView(SelectionState* state, QWidget* parent = nullptr);
  CollectivesModel* model() const { return model_; }
  MeshView* mesh() const { return mesh_; }
  enum class Quantity { Bytes, Time };
  Quantity quantity() const { return quantity_; }
  void setQuantity(Quantity quantity);
  SegmentedControl* quantityControl() const { return quantity_control_; }
  Picture picture() const override;

 protected:
  bool usesTime() const override { return true; }
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
  BarData byteBars(const Report& report) const;
  BarData timeBars(const Report& report) const;
  CollectivesModel* model_;
  MeshView* mesh_;
  SegmentedControl* quantity_control_;
  Quantity quantity_ = Quantity::Bytes;
};

}  // namespace shardscape::ui
