#include "plan/collective_rows.h"

namespace shardscape {

bool is_behind(const Segment& segment, const Op& op, const CollectiveValue& row) {
  if (!is_collective(op.kind) || op.phase != row.phase || group_name(redistribution(op).group) != row.group)
    return false;
  // A ring's passes and its sums are both sends and receives. Their types differ.
  if (is_ring(op.kind)) return row.op.is_message() && segment.tensor(op.inputs[0]).dtype == row.dtype;
  return row.op == collective_of(op.kind) && segment.tensor(op.inputs[0]).dtype == row.dtype;
}

}  // namespace shardscape
