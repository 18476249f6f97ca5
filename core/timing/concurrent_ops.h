// Layers with concurrent blocks (BlockInstance::concurrent): the collectives of these blocks run on a stream
// of their own while ops that do not need their results compute, as experts behind a shortcut do
// (LongCat-Flash, arXiv 2509.01322, shortcut-connected MoE and its single batch overlap: dispatch next to the
// dense FFN, combine next to the second attention and FFN).
//
// The ops of a part of a layer are scheduled on two streams. A collective of a concurrent block starts when
// its operands exist and the earlier ones have ended. Compute runs the op that can start first; of several,
// the first in the order of the segment. All other collectives run on the compute stream. The kernels that
// pack an exchange compute; they run before the exchange.
#pragma once

#include <vector>

#include "timing/op_seconds.h"

namespace shardscape {

// One op in time, in seconds since the part began.
struct PlacedPartOp {
  OpId op = 0;
  double begin = 0, end = 0;
  bool concurrent = false;  // a collective on the stream of its own
  double exposed = 0;       // communication of the op that compute waits for
};

struct ConcurrentPart {
  double seconds = 0;             // of the compute stream, waits included
  double hidden = 0;              // of the collectives: what compute does not wait for
  CategorySeconds categories{};   // add up to seconds
  std::vector<PlacedPartOp> ops;  // those that take time, by begin
};

bool has_concurrent_blocks(const Segment& segment);
// ops: the ops of the part that run, in the order of the segment. times: of all ops of the segment.
// gemm_slowdown: factor on GEMMs and attention while a collective runs next to them.
ConcurrentPart schedule_concurrent(const Segment& segment, const std::vector<OpTime>& times,
                                   const std::vector<OpId>& ops, double gemm_slowdown);

}  // namespace shardscape
