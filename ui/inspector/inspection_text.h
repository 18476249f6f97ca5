// An inspection as plain text, for the clipboard and for assistive technology.
#pragma once

#include <QString>

#include "ui/selection/inspection.h"

namespace shardscape::ui {

QString inspectionText(const Inspection& inspection);
QString inspectedValueText(
    const InspectedValue& value);  // "Saved for backward\n  formula\n  = substituted\n  = value"

}  // namespace shardscape::ui
