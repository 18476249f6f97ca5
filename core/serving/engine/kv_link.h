// The network between the replicas that compute prompts and those that generate answers.
#pragma once

#include "design/design.h"
#include "serving/requests/request_simulation.h"

namespace shardscape {

// Every rank sends and receives its part of a cache through its share of the NICs of its node. So the port of
// a replica has the rate of a large message between two neighbouring nodes (collective_time.h, SendRecv),
// times the ranks of a data-parallel replica. The latency is that of a message without bytes, the longer of
// both networks. All replicas are on nodes of their own. The designs are valid.
KvLink kv_link(const Design& prefill, const Design& decode);

}  // namespace shardscape
