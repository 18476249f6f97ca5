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
  void setWhyNot(std::function<QString(const QString& value)> why_not) override;

 private:
  void greyImpossible();
  QComboBox* box_;
  std::function<QString(const QString& value)> why_not_;
};

}  // namespace shardscape::ui
