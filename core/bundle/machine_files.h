// The machine of a design as the files of a simulator, for traces that another program wrote.
#pragma once

#include <cstdint>
#include <string>

#include "base/problem.h"
#include "plan/report.h"

namespace shardscape {

struct MachineFiles {
  std::string network, system;  // network.yml, system.json
};

// report: a valid design. ranks: of the traces. With another number of ranks than the design, the network is
// that of data-parallel ranks on the same cluster. A Problem: the cluster cannot have so many ranks.
Result<MachineFiles> machine_files(const Report& report, int64_t ranks);

}  // namespace shardscape
