// Texts of the timeline: titles, tool tips, the inspector.
#pragma once

#include <QString>

#include "base/units.h"
#include "ui/selection/inspection.h"
#include "ui/session/estimate.h"
#include "ui/views/timeline/lanes.h"
#include "ui/views/timeline/op_detail.h"

namespace shardscape::ui {

QString pass_label(const LaneItem& item);                     // "Backward of the input"
QString lane_label(StreamKind stream);                        // next to a row: "sync"
QString span_words(const Lanes& lanes, int stage, int span);  // "receive of microbatch 3 on stage 2"
QString item_title(const Lanes& lanes, const ItemRef& ref);   // "Forward, microbatch 9, chunk 0"
QString item_tip(const Lanes& lanes, const ItemRef& ref);
// The label of an op of the graph: "QKV projection".
QString placed_op_title(const Report& report, const PlacedOp& op);
Inspection inspect_item(const Report& report, const Lanes& lanes, OpDetail& detail, const ItemRef& ref,
                        UnitSystem units);

// The row of the Communication view that counts a span: index among the stage's collectives; -1: none.
int collective_of_span(const StageReport& stage, const Lanes& lanes, int span);

}  // namespace shardscape::ui
