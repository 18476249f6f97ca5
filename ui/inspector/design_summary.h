// What the inspector shows while nothing is selected: the design at a glance, with its derived symbols.
#pragma once

#include "ui/selection/inspection.h"
#include "ui/session/session.h"

namespace shardscape::ui {

// Of the newest report; empty before the first one.
Inspection designSummary(const Session& session);

}  // namespace shardscape::ui
