// One inspected value: its label, and a box with formula, numbers put in, and value.
#pragma once

#include <QWidget>

#include "ui/state/session.h"

namespace shardscape::ui {

class FormulaBox : public QWidget {
  Q_OBJECT
 public:
  FormulaBox(const InspectedValue& value, QWidget* parent);
  const InspectedValue& value() const { return value_; }

 private:
  const InspectedValue value_;
};

}  // namespace shardscape::ui
