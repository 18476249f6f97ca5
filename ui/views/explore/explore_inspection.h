// What the inspector says of a bar of the sensitivity page and of a point of the scaling page.
#pragma once

#include "base/units.h"
#include "explore/sensitivity.h"
#include "ui/selection/inspection.h"

namespace shardscape::ui {

Inspection inspectSensitivity(const Sensitivity& of, const KnobSensitivity& knob, UnitSystem units);
Inspection inspectScale(const ScalePoint& point, bool weak, Mode mode, UnitSystem units);

}  // namespace shardscape::ui
