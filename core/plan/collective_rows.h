// Which ops of the graph a row of StageReport::collectives counts.
#pragma once

#include "plan/report.h"

namespace shardscape {

// True if the row counts the op. One op of a ring is behind two rows: its sends and its receives.
bool is_behind(const Segment& segment, const Op& op, const CollectiveValue& row);
// Sends have the time of the message, but compute waits at the receiver. So sums over the time of a rank
// leave sends out, and sums over its bytes leave receives out.
inline bool has_waits(const CollectiveValue& row) { return row.op.part() != CommPart::Send; }

}  // namespace shardscape
