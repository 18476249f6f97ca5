// A line that names the accelerators whose price or power is unknown, with a button for each field that sets
// the value.
#pragma once

#include <QWidget>
#include <vector>

#include "campaign/running_cost.h"

class QLabel;
class QPushButton;

namespace shardscape::ui {

class Session;

// "No price for NVIDIA B300 HGX 270 GB: set "Price per hour" in Cluster"
QString missingCostText(const MissingCost& missing);
// The sentence for a cost that the knob's value would give; empty if the cluster has the value.
QString missingCostTip(const ClusterSpec& cluster, const std::string& knob);

class MissingCostLine : public QWidget {
  Q_OBJECT
 public:
  MissingCostLine(Session* session, QWidget* parent);
  // Hidden if nothing is missing. settable: clusters whose values the fields set.
  void setClusters(const std::vector<ClusterSpec>& clusters, const std::vector<ClusterSpec>& settable);
  QString text() const;

 private:
  QLabel* text_;
  std::vector<QPushButton*> fields_;
};

}  // namespace shardscape::ui
