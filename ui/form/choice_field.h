// A list of choices for a knob that is one of a few.
#pragma once

#include "ui/form/knob_field.h"

class QComboBox;

namespace shardscape::ui {

class ChoiceField : public KnobField {
  Q_OBJECT
 public:
  ChoiceField(const Knob& knob, QWidget* parent);
  QWidget* widget() const override;
  void show(const QString& value) override;
  void setAuto(const QString& name) override;
  void setInvalidReason(std::function<QString(const QString& value)> invalid_reason) override;

 private:
  void greyInvalidChoices();
  QComboBox* box_;
  int auto_ = -1;       // index of the choice "auto"; -1: none
  QString auto_label_;  // its own label
  std::function<QString(const QString& value)> invalid_reason_;
};

}  // namespace shardscape::ui
