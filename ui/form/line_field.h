// A line for a whole number or a list of numbers. Up and Down step a number; with Ctrl they double and halve
// it. Typed text may be half typed: it takes effect after a pause, on Enter, or when the field loses focus.
#pragma once

#include <QTimer>

#include "ui/form/knob_field.h"

class QLabel;
class QLineEdit;

namespace shardscape::ui {

class LineField : public KnobField {
  Q_OBJECT
 public:
  LineField(const Knob& knob, QWidget* parent);
  QWidget* widget() const override;
  void show(const QString& value) override;
  bool editing() const override { return typing_; }
  void setZero(const QString& placeholder, const QString& unit) override;

 protected:
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  QString typed() const;
  void placeUnit();
  void flush();
  void step(int direction, Qt::KeyboardModifiers modifiers, int size);
  const Knob knob_;
  QLineEdit* line_;
  QLabel* unit_ = nullptr;  // inside the line, after its text
  QString value_;           // canonical, as last shown
  QString zero_;            // placeholder of an empty field that means zero
  bool typing_ = false;     // the text differs from the shown value
  QTimer pause_;            // before typed text takes effect
};

}  // namespace shardscape::ui
