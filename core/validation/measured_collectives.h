// Measured times of collectives, compared with those of the network model (performance/collective_time.h).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "mesh/collective_kind.h"

namespace shardscape {

// A collective over `ranks` ranks of one scale-up domain. bytes: of the full buffer (collective_time.h).
struct CollectiveMeasurement {
  std::string accelerator;  // id in the catalogue
  CollectiveKind kind = CollectiveKind::AllReduce;
  int64_t ranks = 2;
  double bytes = 0, seconds = 0;
};

// Mean absolute errors in percent of the rows with one kind, and with sizes from 10^decade up to 10^(decade +
// 1) bytes; decade < 0: all sizes. model: as the program predicts, with its tables of measured collectives.
// formulas: without tables.
struct CollectiveErrors {
  CollectiveKind kind = CollectiveKind::AllReduce;
  int decade = -1;
  size_t rows = 0;
  double model = 0, formulas = 0;
};

// By kind, then by size. Empty without rows.
std::vector<CollectiveErrors> collective_errors(const std::vector<CollectiveMeasurement>& rows);

}  // namespace shardscape
