// The engines among which a fleet search (serving/service/fleet_search.h) chooses.
#pragma once

#include <cstdint>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "serving/service/fleet_search.h"

namespace shardscape {

struct FleetSpace {
  std::vector<std::string> accelerators;  // ids in the catalogue; empty: that of the design
  std::vector<int64_t> engine_gpus;       // accelerators of an engine; empty: 1, 2, 4 ... of a node
  // Settings of the service (service_spec.h) that vary: id and values, as texts. All combinations are tried.
  std::vector<std::pair<std::string, std::vector<std::string>>> settings;
  // Also pairs of prefill and decode engines. Their prefill engines: accelerators and sizes as above if these
  // are empty, or the one engine of a saved design.
  bool disaggregate = false;
  std::vector<std::string> prefill_accelerators = {};
  std::vector<int64_t> prefill_gpus = {};
  std::string prefill_design = {};  // file
};

// Whether a fleet search can vary the setting: settings of the engine and the router. The engine itself and
// the number of replicas are answers or questions of their own.
bool fleet_varies(const ServiceSetting& setting);

struct FleetCandidates {
  std::vector<FleetCandidate> list, prefill;  // prefill: of FleetOptions
  int64_t invalid = 0;                        // layouts that validation refuses
};

// All valid inference layouts of one engine: the splits of its accelerators over tp and pp, and, with
// experts, over dp, ep and the tensor parallelism of experts, from the space of "Find a layout"
// (layout_space). Replicas without shared experts are engines of their own, so dp is 1 for them. The layout
// of the given design competes, if its accelerator does. Accelerators other than that of the design have the
// network, node size, price and power of the catalogue. A Problem names an unknown accelerator, a number of
// accelerators, or a setting. Empty if stopped.
Result<FleetCandidates> fleet_candidates(const Design& design, const ServiceSpec& spec,
                                         const FleetSpace& space, std::stop_token stop = {});

std::string engine_layout_text(const Design& engine);  // "tp 4, pp 2"; "1 GPU" without parallelism

}  // namespace shardscape
