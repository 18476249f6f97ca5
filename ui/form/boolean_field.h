// A check box for a knob that is on or off.
#pragma once

#include "ui/form/knob_field.h"

class QCheckBox;

namespace shardscape::ui {

class BooleanField : public KnobField {
  Q_OBJECT
 public:
  explicit BooleanField(QWidget* parent);
  QWidget* widget() const override;
  void show(const QString& value) override;

 private:
  QCheckBox* box_;
};

}  // namespace shardscape::ui
