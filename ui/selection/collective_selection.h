// The selection that a row of a stage's collectives stands for.
#pragma once

#include "plan/report.h"
#include "ui/selection/selection.h"

namespace shardscape::ui {

Selection selectionOfCollective(const StageReport& stage, const CollectiveValue& row);

}  // namespace shardscape::ui
