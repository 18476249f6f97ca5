// What running a cluster costs: price, power, failures, restarts and checkpoints, with their published
// values. The knobs of a design replace them (operation_of() in design/cluster.h).
#pragma once

namespace shardscape {

// A usual value and the range of published ones.
struct Range {
  double usual = 0, low = 0, high = 0;
  friend bool operator==(const Range&, const Range&) = default;
};
struct PublishedRange {
  Range value;
  const char* source;
};

// Interruptions of a job in 1,000 days of a node with 8 accelerators.
inline constexpr PublishedRange kPublishedFailureRate{
    {4, 1.6, 13},
    "Llama 3 405B on 16,384 H100: 466 in 54 days, 4.2 (arXiv 2407.21783, section 3.3.4); range from 1.6 "
    "(dense model on 9,600 GPUs, arXiv 2509.16293, table 4) to 13 (OPT-175B on 992 A100, "
    "facebookresearch/metaseq, chronicles)"};
// Seconds from an interruption to the next step after the last checkpoint.
inline constexpr PublishedRange kPublishedRestart{
    {600, 120, 900},
    "10 minutes (arXiv 2602.00277); range from 2 minutes (detection and restart in place, arXiv 2509.16293, "
    "section 8) to 15 minutes (arXiv 2402.15627, section 6.2)"};
// 10^9 bytes per second that one rank writes to storage while all ranks write.
inline constexpr double kPublishedCheckpointGbps = 0.125;
inline constexpr const char* kCheckpointSource =
    "Llama 3: 2 TB/s of storage for 16,384 ranks, 0.12 (arXiv 2407.21783, section 3.3.1); BLOOM: 2.3 TB in "
    "40 s "
    "from 384 ranks, 0.15 (bigscience-workshop/bigscience, chronicles of tr11-176B-ml)";
// Power of a site / power of its computers (power usage effectiveness).
inline constexpr double kPublishedPue = 1.1;
inline constexpr const char* kPueSource =
    "1.08 to 1.12 at sites of TPU v3 and v4 (arXiv 2104.10350, table 4; arXiv 2204.02311, appendix B); the "
    "mean "
    "of all sites is 1.58 (Uptime Institute, 2023)";
// Power of hosts, NICs and switches for one accelerator / power limit of its board.
inline constexpr double kPublishedHostShare = 0.5;
inline constexpr const char* kHostShareSource =
    "half of the board's power: a node of 8 H100 draws at most 8.4 kW in training, 2.8 kW more than its "
    "boards (arXiv 2412.08602)";

// The values of a cluster. Power is that of one accelerator in watts.
struct Operation {
  double price_per_hour = 0;  // dollars for one accelerator; 0: not known
  double board_watts = 0;     // power limit of the board; 0: not known
  double host_watts = 0;      // 0: not known
  double pue = kPublishedPue;
  Range failure_rate = kPublishedFailureRate.value;  // interruptions in 1,000 node-days of 8 accelerators
  Range restart_seconds = kPublishedRestart.value;
  double checkpoint_gbps = kPublishedCheckpointGbps;  // 10^9 bytes per second and rank
  // Watts that the site draws for one accelerator; 0: not known.
  double site_watts() const { return board_watts > 0 ? (board_watts + host_watts) * pue : 0; }
};

}  // namespace shardscape
