// What is selected, in a few words.
#pragma once

#include <QString>

#include "ui/state/picked.h"

namespace shardscape::ui {

// "Activations, stage 1", "QKV projection, layers 8 … 15"; empty where nothing is. Simulation: of the report, or null.
QString pick_text(const Pick& pick, const Report& report, const Simulation* simulation);

}  // namespace shardscape::ui
