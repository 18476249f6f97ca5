// The layout of a training run, apart from its workload. Runs with equal workloads are layouts to choose
// from.
#pragma once

#include <map>
#include <string>

#include "design/design.h"

namespace shardscape {

struct Layout {
  // Equal for designs with equal model, batch, sequence, precision, code base, cluster and number of ranks.
  std::string workload;
  // Values of the knobs of parallelism, of the microbatch and of recomputation, by knob. Without dp, which
  // follows from the number of ranks, and without values that are those of the default layout.
  std::map<std::string, std::string> settings;
};

Layout layout_of(const Design& design);

// The names of the settings in which two layouts differ, in alphabetical order: "pp tp".
std::string differing_settings(const std::map<std::string, std::string>& a,
                               const std::map<std::string, std::string>& b);

}  // namespace shardscape
