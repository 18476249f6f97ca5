// One inspected value: its label, and a box with the formula, the formula with numbers, and the value. A long
// formula shows its first terms until the person expands it.
#pragma once

#include <QWidget>

#include "ui/selection/inspection.h"

namespace shardscape::ui {

class FormulaBox : public QWidget {
  Q_OBJECT
 public:
  FormulaBox(const InspectedValue& value, bool whole, QWidget* parent);
  const InspectedValue& value() const { return value_; }

 Q_SIGNALS:
  void wholeWanted(bool whole);

 private:
  const InspectedValue value_;
};

}  // namespace shardscape::ui
