// The row with the limits of a service: two fields, and what the time to first token assumes.
#pragma once

#include <QTimer>
#include <QWidget>
#include <optional>

#include "serving/service_limits.h"

class QLineEdit;

namespace shardscape::ui {

class IssueLine;
class PageSettings;

class LimitFields : public QWidget {
  Q_OBJECT
 public:
  // The fields follow the settings, and set them.
  LimitFields(PageSettings* pages, QWidget* parent);

 private:
  QLineEdit* makeField(const QString& label, const QString& name, const QString& tip);
  void read();    // from the fields
  void follow();  // the settings
  PageSettings* pages_;
  ServiceLimits shown_;
  QTimer typing_;
  QLineEdit *ttft_, *tpot_;
  IssueLine* issue_;
};

}  // namespace shardscape::ui
