// How many GPUs of which kind keep the service level: the fleet search of the page Requests.
#pragma once

#include <memory>

#include "serving/service/fleet_search.h"
#include "ui/views/requests/answer_panel.h"

class QLineEdit;

namespace shardscape::ui {

class FleetModel;
class VariedSettings;

class FleetPanel : public AnswerPanel {
  Q_OBJECT
 public:
  FleetPanel(Session* session, PageSettings* pages, QWidget* parent);
  QLineEdit* accelerators() const { return accelerators_; }  // ids with commas; empty: that of the design
  QLineEdit* engineGpus() const { return engine_gpus_; }     // numbers with commas; empty: the usual ones
  VariedSettings* varied() const { return varied_; }
  std::shared_ptr<const FleetSearch> fleet() const { return fleet_; }
  Picture picture() const override;

 protected:
  Compute question() override;
  bool any() const override { return fleet_ != nullptr; }
  QString summary() const override;
  QString reasonOf(int row) const override;
  QWidget* fieldOf(const Problem& problem) const override;
  std::optional<Applied> applied(int row) const override;

 private:
  void show(std::shared_ptr<const FleetSearch> fleet);
  QLineEdit *accelerators_, *engine_gpus_;
  VariedSettings* varied_;
  FleetModel* model_;
  std::shared_ptr<const FleetSearch> fleet_;
};

}  // namespace shardscape::ui
