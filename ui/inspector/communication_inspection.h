// Inspector texts about collectives and transfers: formulas, and the placements that make them necessary.
#pragma once

#include <QColor>

#include "base/units.h"
#include "plan/report.h"
#include "ui/selection/inspection.h"

namespace shardscape::ui {

QString group_reason(const std::string& group);  // why the group communicates
QColor group_color(const std::string& group);
QString group_label(const std::string& group);  // "Tensor parallel (tp)"
Wide group_bytes(const StageReport& stage, const std::string& group);

Inspection inspect_collective(const Report& report, const StageReport& stage, const CollectiveValue& row,
                              UnitSystem units);
Inspection inspect_group(const Report& report, const StageReport& stage, const std::string& group,
                         UnitSystem units);
Inspection inspect_stage_communication(const StageReport& stage, UnitSystem units);

}  // namespace shardscape::ui
