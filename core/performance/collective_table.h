// Measured times of collectives. Data: files below resources/calibration, and below the same folder in the
// user's data folder, whose rows replace built-in rows. Format:
//   {"accelerators": ["h100-sxm-80gb"],      or "accelerator": "h100-sxm-80gb"
//    "scaleup_gbps": 450,                    rate of the measured links; default: that of the accelerator
//    "source": text,                         the source of the measurement, with versions
//    "inference": true,                      the rows are kernels of an inference engine; default: of NCCL
//    "collectives": [
//      {"op": "all_reduce",                  or all_gather, reduce_scatter, all_to_all, broadcast, reduce,
//                                            send_recv
//       "ranks": 8, "per_domain": 8,         ranks of the group, and of these in one scale-up domain
//       "in_network": true,                  reductions: whether switches may reduce; default: both cases
//       "bytes": [...], "us": [...]}]}       bytes of the full buffer, ascending; microseconds
// Kernels of an inference engine count in addition to those of NCCL, and only inside a scale-up domain.
// Files in resources/calibration/collectives hold no other keys. In other files, the other keys belong to the
// times of kernels (calibration.h).
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "base/problem.h"
#include "hardware/network.h"

namespace shardscape {

struct TimedRow {
  CollectiveKind op;
  int64_t ranks = 2, per_domain = 2;
  bool in_network = true, by_ranks = true;  // whether the row holds for reductions by switches, by ranks
  std::vector<double> bytes{}, us{};        // of equal length; bytes ascend
};

// Time of one collective as a function of bytes. The curve is monotonic: a measured time above the time of a
// larger size is noise, and the smaller time replaces it.
class TimeCurve {
 public:
  explicit TimeCurve(TimedRow row);
  // Interpolates the logarithms of sizes and times linearly. Below the first size its time holds; beyond the
  // last size, the rate there extrapolates.
  double seconds(double bytes) const;
  double rate() const { return rate_; }  // marginal rate at the largest messages, bytes per second
  const TimedRow& row() const { return row_; }

 private:
  TimedRow row_;
  std::vector<double> log_bytes_, log_us_;
  double rate_ = 0;
};

struct SourcedRows {
  std::vector<TimedRow> rows{};
  std::string source{};
};

class CollectiveTable {
 public:
  // engine: kernels of an inference engine.
  CollectiveTable(const std::vector<TimedRow>& rows, double scaleup_gbps, std::string source,
                  SourcedRows engine = {});

  // The measured groups nearest in size: the largest with at most the wanted ranks, and the smallest with at
  // least the wanted ranks. Either may be missing.
  struct Nearest {
    const TimeCurve *below = nullptr, *above = nullptr;
    explicit operator bool() const { return below || above; }
  };
  // per_domain = 0: groups inside one domain. Otherwise: groups over several domains with this many ranks in
  // each.
  Nearest nearest(CollectiveKind op, bool in_network, int64_t ranks, int64_t per_domain = 0) const;
  // The engine's kernel for exactly so many ranks of one domain; nullptr: not measured.
  const TimeCurve* engine_kernel(CollectiveKind op, int64_t ranks) const;
  double scaleup_gbps() const { return scaleup_gbps_; }
  const std::string& source() const { return source_; }
  const std::string& engine_source() const { return engine_source_; }
  const std::vector<TimeCurve>& curves() const { return curves_; }
  const std::vector<TimeCurve>& engine_curves() const { return engine_curves_; }

 private:
  std::vector<TimeCurve> curves_;         // sorted by op, then ranks
  std::vector<TimeCurve> engine_curves_;  // of an inference engine
  double scaleup_gbps_ = 0;
  std::string source_, engine_source_;
};

// The table of an accelerator; nullptr if nothing was measured.
const CollectiveTable* collective_table(const std::string& accelerator);
// Mistakes in the files. Rows or files with a mistake are left out.
const std::vector<Problem>& collective_table_problems();
// Reads the text of one file without keeping its rows. Never throws. For tests, and for checks before a file
// is stored.
std::vector<TimedRow> read_collective_rows(const std::string& text, const std::string& name,
                                           std::vector<Problem>& problems);

}  // namespace shardscape
