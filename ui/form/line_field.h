// A line for a whole number or a list of them; Up and Down step a number, with Ctrl they double and halve it.
#pragma once

#include "ui/form/knob_field.h"

class QLineEdit;

namespace shardscape::ui {

class LineField : public KnobField {
  Q_OBJECT
 public:
  LineField(const Knob& knob, QWidget* parent);
  QWidget* widget() const override;
  void show(const QString& value) override;
  bool editing() const override { return typing_; }

 protected:
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  void step(int direction, Qt::KeyboardModifiers modifiers, int size);
  const Knob knob_;
  QLineEdit* line_;
  QString value_;        // canonical, as last shown
  bool typing_ = false;  // text differs from what was shown
};

}  // namespace shardscape::ui
