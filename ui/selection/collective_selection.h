// The selection of one row in the list of a stage's collectives.
#pragma once

#include "plan/report.h"
#include "ui/selection/selection.h"

namespace shardscape::ui {

Selection selectionOfCollective(const StageReport& stage, const CollectiveValue& row);

}  // namespace shardscape::ui
