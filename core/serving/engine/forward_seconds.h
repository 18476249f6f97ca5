// The seconds of one forward of an inference engine, split by what they depend on. An engine step mixes
// sequences that read a part of their prompt with sequences that generate a token; its time is put together
// from these parts (engine_clock.h).
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "base/plan_cache.h"
#include "design/design.h"
#include "plan/report.h"

namespace shardscape {

struct ForwardSeconds {
  struct Stage {
    double tokens = 0;     // embedding and layers without attention: depends on the tokens of the step
    double attention = 0;  // attention and mixers of all layers: depends on the contexts
    double head = 0;       // depends on the sequences that sample a token
  };
  std::vector<Stage> stages;  // of the pipeline, in order
  int64_t kernels = 0;        // launched over all stages, collectives included
  double messages = 0;        // between neighbouring stages, all together
  double tokens() const;      // over all stages; so are the next two
  double attention() const;
  double head() const;
};

// Of one microbatch. The report is valid, its mode prefill or decode.
ForwardSeconds forward_seconds(const Report& report);

}  // namespace shardscape
