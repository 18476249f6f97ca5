// Seconds of a collective over the links that its group spans.
#pragma once

#include <cstdint>

#include "machine/machine.h"

namespace shardscape {

enum class CollectiveKind : uint8_t { AllReduce, AllGather, ReduceScatter, AllToAll, Broadcast, Reduce, SendRecv };

// bytes: of the full buffer (the gathered output, the full input of a reduction, the whole send buffer, the message).
double collective_seconds(const Machine& machine, CollectiveKind kind, double bytes, const GroupSpan& span);

}  // namespace shardscape
