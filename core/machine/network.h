// Links between accelerators, and what of them a group of ranks spans.
#pragma once

#include <cstdint>
#include <vector>

namespace shardscape {

// Two levels: a scale-up domain (NVLink), and the network between domains through NICs.
struct Network {
  int64_t domain = 8;               // ranks of one scale-up domain
  double scaleup_gbps = 450;        // per rank and direction, 10^9 bytes per second
  double nic_gbps = 50;             // likewise, of the rank's share of its node's NICs
  double scaleup_latency_us = 1;    // per hop
  double nic_latency_us = 5;
};

// A group of ranks as the network sees it. All domains that it touches hold equally many of it, as rank orders are regular.
struct GroupSpan {
  int64_t ranks = 1;
  int64_t per_domain = 1;           // of the group in one scale-up domain
  int64_t domains() const { return ranks / per_domain; }
};

// Of ranks in any order; 1-rank groups span nothing.
GroupSpan span_of(const std::vector<int64_t>& ranks, int64_t domain);

}  // namespace shardscape
