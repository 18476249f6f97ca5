#include "serving/requests/kv_transfers.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace shardscape {

KvTransfers::KvTransfers(const KvLink& link, int32_t senders, int32_t receivers)
    : link_(link), senders_(static_cast<size_t>(senders)), ports_(static_cast<size_t>(senders + receivers)) {}

void KvTransfers::start(double now, int32_t request, int32_t sender, int32_t receiver, double bytes,
                        double extra) {
  if (bytes <= 0 || (link_.send_rate == 0 && link_.receive_rate == 0)) {
    arriving_.push({now + link_.latency + extra, request});
    return;
  }
  advance(now);
  flows_.push_back({request, sender, receiver, bytes, 0, extra});
  divide();
}

void KvTransfers::cancel(double now, int32_t request) {
  advance(now);
  std::erase_if(flows_, [&](const Flow& flow) { return flow.request == request; });
  arriving_.erase(request);
  divide();
}

double KvTransfers::time() const { return std::min(next_, arriving_.time()); }

std::optional<int32_t> KvTransfers::run() {
  if (arriving_.time() <= next_) return arriving_.pop().second;
  // The flows that end now. The time of the end decides, because bytes are rounded.
  const double end = next_;
  std::vector<std::pair<double, int32_t>> ended;  // with their extra seconds
  std::erase_if(flows_, [&](const Flow& flow) {
    const bool ends = now_ + flow.bytes / flow.rate <= end;
    if (ends) ended.emplace_back(flow.extra, flow.request);
    return ends;
  });
  advance(end);
  for (const auto& [extra, request] : ended) arriving_.push({end + link_.latency + extra, request});
  divide();
  return std::nullopt;
}

void KvTransfers::advance(double now) {
  for (Flow& flow : flows_) flow.bytes = std::max(0.0, flow.bytes - flow.rate * (now - now_));
  now_ = now;
}

// Sets the rates of all flows, and the end of the first one.
void KvTransfers::divide() {
  std::vector<double> left(ports_, 0);
  std::vector<int32_t> users(ports_, 0);
  const auto port = [&](size_t k, const Flow& flow) {
    return k == 0 ? static_cast<size_t>(flow.sender) : senders_ + static_cast<size_t>(flow.receiver);
  };
  for (size_t i = 0; i < ports_; ++i) left[i] = i < senders_ ? link_.send_rate : link_.receive_rate;
  const auto limited = [&](size_t i) { return (i < senders_ ? link_.send_rate : link_.receive_rate) > 0; };
  std::vector<Flow*> open;
  for (Flow& flow : flows_) {
    open.push_back(&flow);
    for (const size_t k : {0, 1}) ++users[port(k, flow)];
  }
  while (!open.empty()) {
    double share = std::numeric_limits<double>::infinity();
    size_t fullest = 0;
    for (size_t i = 0; i < ports_; ++i) {
      if (users[i] == 0 || !limited(i) || left[i] / users[i] >= share) continue;
      share = left[i] / users[i];
      fullest = i;
    }
    std::erase_if(open, [&](Flow* flow) {
      if (port(0, *flow) != fullest && port(1, *flow) != fullest) return false;
      flow->rate = share;
      for (const size_t k : {0, 1}) {
        const size_t i = port(k, *flow);
        left[i] = std::max(0.0, left[i] - share);
        --users[i];
      }
      return true;
    });
  }
  next_ = Engine::kIdle;
  for (const Flow& flow : flows_) next_ = std::min(next_, now_ + flow.bytes / flow.rate);
}

}  // namespace shardscape
