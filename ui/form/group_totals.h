// The figure next to a group's name in the form: parameters, ranks, tokens, nodes.
#pragma once

#include <QString>

#include "design/knobs/knobs.h"
#include "plan/report.h"

namespace shardscape::ui {

QString groupTotal(const Report& report, KnobGroup group);

}  // namespace shardscape::ui
