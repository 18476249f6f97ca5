// Designs of inference and their reports.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "plan/report.h"
#include "serving/engine/engine_clock.h"
#include "support/designs.h"

namespace shardscape::test {

// One sequence of 4,096 tokens on one rank, then the settings. Aborts where a setting is refused.
Design served(const char* preset, Mode mode,
              const std::vector<std::pair<const char*, const char*>>& settings = {});

// One engine on accelerators of the catalogue.
Design engine_on(const char* preset, int64_t tp, const char* accelerator);
// The same for decode, with stages of a pipeline.
Design decode_engine(const char* preset, int64_t tp, int64_t pp, const char* accelerator);

// Aborts where the design has a problem.
std::unique_ptr<EngineClock> clock_of(const Design& design, const EngineProfile& profile = {});

// Aborts where the design has a problem.
std::shared_ptr<const Report> reported(const Design& d);

}  // namespace shardscape::test
