// One inspected value: its label, and a box with formula, numbers put in, and value. Of a long formula the
// first terms, until the person asks for all.
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
