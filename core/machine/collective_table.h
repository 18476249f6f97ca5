// Measured times of collectives. Files below resources/calibration, and below the same folder of a person's own data, whose
// rows replace built-in ones:
//   {"accelerators": ["h100-sxm-80gb"],         or "accelerator": "h100-sxm-80gb"
//    "scaleup_gbps": 450,                       of the links that were measured; left out: the accelerator's
//    "source": "who measured it, with which version",
//    "collectives": [
//     {"op": "all_reduce",                      all_gather, reduce_scatter, all_to_all, broadcast, reduce, send_recv
//      "ranks": 8, "per_domain": 8,             of the group, and of the group in one scale-up domain
//      "in_network": true,                      of a sum: whether switches may form it; left out: both
//      "bytes": [...], "us": [...]}]}           of the full buffer, ascending; microseconds
// A file in resources/calibration/collectives holds nothing else; elsewhere other keys belong to the times of kernels.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "base/problem.h"
#include "machine/network.h"

namespace shardscape {

struct TimedRow {
  CollectiveKind op = CollectiveKind::AllReduce;
  int64_t ranks = 2, per_domain = 2;
  bool in_network = true, by_ranks = true;  // which sums it stands for
  std::vector<double> bytes, us;            // as many; bytes ascend
};

// Time over bytes of one collective. A larger message never takes less: what a later size beats was noise of the measurement.
class TimeCurve {
 public:
  explicit TimeCurve(TimedRow row);
  // Linear between measured sizes in the logarithms of both; below the first its time, beyond the last by the rate there.
  double seconds(double bytes) const;
  double rate() const { return rate_; }  // bytes per second that the largest messages add
  const TimedRow& row() const { return row_; }

 private:
  TimedRow row_;
  std::vector<double> log_bytes_, log_us_;
  double rate_ = 0;
};

class CollectiveTable {
 public:
  CollectiveTable(const std::vector<TimedRow>& rows, double scaleup_gbps, std::string source);

  // The measured groups nearest in size: one at or below the wanted ranks and one at or above; either may be missing.
  struct Nearest {
    const TimeCurve *below = nullptr, *above = nullptr;
    explicit operator bool() const { return below || above; }
  };
  // Inside one domain where per_domain is 0; else of groups with that many ranks per domain.
  Nearest nearest(CollectiveKind op, bool in_network, int64_t ranks, int64_t per_domain = 0) const;
  double scaleup_gbps() const { return scaleup_gbps_; }
  const std::string& source() const { return source_; }
  const std::vector<TimeCurve>& curves() const { return curves_; }

 private:
  std::vector<TimeCurve> curves_;  // by op, ranks
  double scaleup_gbps_ = 0;
  std::string source_;
};

// Of an accelerator's id; nullptr: none was measured.
const CollectiveTable* collective_table(const std::string& accelerator);
// Mistakes found in the files; the rows or files in question were left out.
const std::vector<Problem>& collective_table_problems();
// Of the text of one file; throws nothing. For tests and for those who check a file before they keep it.
std::vector<TimedRow> read_collective_rows(const std::string& text, const std::string& name, std::vector<Problem>& problems);

}  // namespace shardscape
