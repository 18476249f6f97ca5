// The inspector's text while nothing is selected: a summary of the design with its derived symbols.
#pragma once

#include "ui/selection/inspection.h"
#include "ui/session/session.h"

namespace shardscape::ui {

// Summarizes the newest report; empty before the first report.
Inspection designSummary(const Session& session);

}  // namespace shardscape::ui
