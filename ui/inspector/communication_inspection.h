// Inspector texts about collectives and transfers: formulas, and the placements that make them necessary.
#pragma once

#include <QColor>

#include "base/units.h"
#include "timing/simulation.h"
#include "ui/selection/inspection.h"

namespace shardscape::ui {

QString group_reason(const std::string& group);  // why the group communicates
QColor group_color(const std::string& group);
QString group_label(const std::string& group);  // "Tensor parallel (tp)"
Wide group_bytes(const StageReport& stage, const std::string& group);

// The time of a row of the stage; nullptr without a simulation.
const CollectiveTime* time_of(const Simulation* simulation, const StageReport& stage,
                              const CollectiveValue& row);
struct GroupTime {
  double seconds = 0, exposed = 0;
};
GroupTime group_time(const Simulation& simulation, const StageReport& stage, const std::string& group);
QString bus_text(double rate);  // "312 GB/s"; "–" for 0
QString bus_rate_note();        // what bus bandwidth means, with the source

// simulation: of the report; null: no times.
Inspection inspect_collective(const Report& report, const Simulation* simulation, const StageReport& stage,
                              const CollectiveValue& row, UnitSystem units);
Inspection inspect_group(const Report& report, const Simulation* simulation, const StageReport& stage,
                         const std::string& group, UnitSystem units);
Inspection inspect_stage_communication(const Simulation* simulation, const StageReport& stage,
                                       UnitSystem units);

}  // namespace shardscape::ui
