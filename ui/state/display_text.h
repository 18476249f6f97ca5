// A knob's value as people read it.
#pragma once

#include <QString>

#include "design/knobs.h"

namespace shardscape::ui {

// "8192" as "8,192"; lists and other text stay as they are.
QString displayText(const Knob& knob, const QString& value);

}  // namespace shardscape::ui
