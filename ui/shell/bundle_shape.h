// The settings of a bundle that change its files: what a node covers, steps, a part of the ranks, the compact
// form, and networks of packet-level backends.
#pragma once

#include <QWidget>
#include <optional>
#include <vector>

#include "bundle/bundle.h"
#include "plan/report.h"

class QCheckBox;
class QComboBox;
class QFormLayout;
class QLineEdit;
class QSpinBox;

namespace shardscape::ui {

class BundleShape : public QWidget {
  Q_OBJECT
 public:
  explicit BundleShape(QWidget* parent);
  void addRows(QFormLayout* form);
  // Writes the settings into the options. A Problem: a range of ranks or stages that the report does not
  // have.
  std::optional<Problem> apply(const Report& report, ExportOptions& options) const;
  void setAvailable(bool on);  // false: an export runs, or the traces are those of engine steps
  void setShown(bool on);

 Q_SIGNALS:
  void changed();

 private:
  QComboBox* granularity_;
  QSpinBox* steps_;
  QLineEdit *ranks_, *stages_;
  QCheckBox* compact_;
  QWidget *part_, *networks_;
  std::vector<QCheckBox*> backends_;  // by PacketBackend
  QFormLayout* form_ = nullptr;
};

}  // namespace shardscape::ui
