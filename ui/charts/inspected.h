// A quantity of the report as the inspector shows it: formula, numbers put in, value.
#pragma once

#include "report/report.h"
#include "ui/state/session.h"

namespace shardscape::ui {

InspectedValue inspected(const QString& label, const Quantity& quantity, const Binding& binding, const QString& value);

}  // namespace shardscape::ui
