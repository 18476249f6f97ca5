// Transfers of KV caches between replicas, which share the ports of the replicas.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "serving/requests/event_queue.h"
#include "serving/requests/request_simulation.h"

namespace shardscape {

// Concurrent transfers divide the rates of their ports max-min fairly: the port with the least rate per
// transfer is divided evenly first, then the rest of the others (progressive filling; Bertsekas, Gallager,
// Data Networks, 1992, section 6.5.2). On a single port this is processor sharing. A transfer ends the
// latency after its last byte has left.
class KvTransfers {
 public:
  KvTransfers(const KvLink& link, int32_t senders, int32_t receivers);
  // sender, receiver: numbers from 0. bytes >= 0. extra: seconds that the transfer takes on top, without the
  // ports.
  void start(double now, int32_t request, int32_t sender, int32_t receiver, double bytes, double extra = 0);
  void cancel(double now, int32_t request);
  double time() const;           // of the next event; Engine::kIdle: none
  std::optional<int32_t> run();  // the next event: the request whose transfer ends, or nothing

 private:
  struct Flow {
    int32_t request = 0, sender = 0, receiver = 0;
    double bytes = 0;  // left at `now_`
    double rate = 0;
    double extra = 0;
  };
  void advance(double now);
  void divide();

  KvLink link_;
  size_t senders_, ports_;
  std::vector<Flow> flows_;  // in the order of their start
  double now_ = 0;
  double next_ = Engine::kIdle;  // the end of the first flow
  EventQueue arriving_;          // transfers whose last byte has left
};

}  // namespace shardscape
