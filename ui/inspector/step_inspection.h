// Inspector texts about a step: its time by category, and how MFU is counted.
#pragma once

#include <QString>

#include "timing/simulation.h"
#include "ui/selection/inspection.h"

namespace shardscape::ui {

// How MFU and HFU are counted, and why either can be the larger, or above 100 %.
QString mfu_text(const Simulation& simulation);
// A category of step time: its definition and its seconds on each stage.
Inspection inspect_category(const Simulation& simulation, TimeCategory category);
Inspection inspect_step(const Simulation& simulation);
QString category_text(const Simulation& simulation,
                      TimeCategory category);  // its mean over stages: "1.2 s, 13 %"
QString stepComparisonText(const Simulation& now, const Simulation& other);  // "9.3 s, +3.1 %, MFU 41 %"

}  // namespace shardscape::ui
