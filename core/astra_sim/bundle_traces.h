// All traces of a bundle, with one shape and one analysis for ranks whose files differ only in group and peer
// numbers.
#pragma once

#include <vector>

#include "astra_sim/bundle_config.h"
#include "chakra/shape_analysis.h"
#include "chakra/trace_shape.h"

namespace shardscape {

struct BundleTraces {
  std::vector<RankTrace> ranks;
  std::vector<TraceShape> shapes;
  std::vector<ShapeAnalysis> analyses;  // by shape

  const TraceShape& shape(int64_t rank) const { return shapes[ranks[static_cast<size_t>(rank)].shape]; }
  const ShapeAnalysis& analysis(int64_t rank) const {
    return analyses[ranks[static_cast<size_t>(rank)].shape];
  }
};

}  // namespace shardscape
