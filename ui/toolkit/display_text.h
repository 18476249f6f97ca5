// A knob and its value as people read them.
#pragma once

#include <QString>

#include "design/knobs/knobs.h"

namespace shardscape::ui {

// "Tensor parallel (tp)"
QString knobName(const Knob& knob);
// "8192" as "8,192", a choice by its label, "true" as "on"; lists and other text stay as they are.
QString displayText(const Knob& knob, const QString& value);

// "set tp to 4" as "Set tp to 4": the start of a label.
QString capitalized(QString text);

// The name of the step time in each mode. Heading: "Step", "TPOT", "TTFT". Label: "Step time", "Time per
// output token", "Time to first token".
QString stepHeading(Mode mode);
QString stepLabel(Mode mode);

}  // namespace shardscape::ui
