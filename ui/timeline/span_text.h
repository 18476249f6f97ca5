// What the timeline says in words: titles, tool tips, the inspector.
#pragma once

#include <QString>

#include "ui/state/estimate.h"
#include "ui/state/session.h"
#include "ui/timeline/lanes.h"
#include "ui/timeline/op_detail.h"

namespace shardscape::ui {

QString mfu_text(const Simulation& simulation);  // how MFU and HFU are counted, and why either can be the larger, or above 100 %
QString seconds_text(double seconds);            // "148 ms"
QString pass_label(const LaneItem& item);        // "Backward of the input"
QString lane_label(StreamKind stream);           // beside a row: "sync"
QString span_words(const Lanes& lanes, int stage, int span);   // "receive of microbatch 3 on stage 2"
QString item_title(const Lanes& lanes, const ItemRef& ref);    // "Forward, microbatch 9, chunk 0"
QString item_tip(const Lanes& lanes, const ItemRef& ref);
// The label of an op of the graph: "QKV projection".
QString placed_op_title(const Report& report, const PlacedOp& op);
Inspection inspect_item(const Report& report, const Lanes& lanes, OpDetail& detail, const ItemRef& ref, UnitSystem units);
// Of a category of the step: what it is, and how much of it each stage has.
Inspection inspect_category(const Simulation& simulation, TimeCategory category);
Inspection inspect_step(const Simulation& simulation);
QString category_text(const Simulation& simulation, TimeCategory category);  // its mean over stages: "1.2 s, 13 %"
QString step_beside_text(const Simulation& now, const Simulation& other);      // "9.3 s, +3.1 %, MFU 41 %"

// Which row of the Communication view a span is of: its index among the stage's collectives; -1: none.
int collective_of_span(const StageReport& stage, const Lanes& lanes, int span);
Pick pick_of_row(const StageReport& stage, const CollectiveValue& row);

}  // namespace shardscape::ui
