// Machines for designs that exceed any scale-up domain.
#pragma once

#include <QtGlobal>
#include <utility>
#include <vector>

#include "design/knobs/knobs.h"
#include "timing/machine_of.h"

namespace shardscape::test {

inline Machine machine_for(const char* accelerator,
                           const std::vector<std::pair<const char*, const char*>>& settings = {}) {
  Design design = default_design();
  design.parallel.dp = 1024;  // exceeds every scale-up domain
  for (const auto& [id, value] : settings)
    if (const auto problem = set_knob(design, *find_knob(id), value))
      qFatal("%s", to_string(*problem).c_str());
  design.cluster.accelerator = accelerator;
  return machine_of(design);
}

}  // namespace shardscape::test
