// A quantity of the report for the inspector: formula, formula with numbers, value.
#pragma once

#include "plan/report.h"
#include "ui/selection/inspection.h"

namespace shardscape::ui {

InspectedValue inspectedQuantity(const QString& label, const Quantity& quantity, const Binding& binding,
                                 const QString& value);

}  // namespace shardscape::ui
