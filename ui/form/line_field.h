// A line for a whole number or a list of them; Up and Down step a number, with Ctrl they double and halve it.
// What is typed counts at once; a number that is many times the one before may be half of another one, and
// counts after a pause, with Enter, or when the field is left.
#pragma once

#include <QTimer>

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
  bool leaps(const QString& text) const;
  void flush();
  void step(int direction, Qt::KeyboardModifiers modifiers, int size);
  const Knob knob_;
  QLineEdit* line_;
  QString value_;        // canonical, as last shown
  bool typing_ = false;  // text differs from what was shown
  QTimer pause_;         // after a leap
};

}  // namespace shardscape::ui
