// The designs of a step of a run: the graph, the memory and the timeline of what one engine computed.
#pragma once

#include <cstddef>
#include <optional>

#include "base/problem.h"
#include "serving/service/service.h"

namespace shardscape {

// A step with chunks of prompts and generated tokens has both parts.
struct StepDesigns {
  // As many prompts as the step has chunks, each with their mean number of tokens, rounded up to a number
  // that the ranks can split. The graph of a prompt has no cached part: attention of these chunks to the
  // tokens before them is missing here. EngineClock adds it to the seconds of the step.
  std::optional<Design> prefill;
  // The decode sequences with their mean context, rounded up, the new token included.
  std::optional<Design> decode;
};

// step: index into run.simulation.steps. A Problem if the run has no such step.
Result<StepDesigns> step_designs(const ServiceRun& run, size_t step);

}  // namespace shardscape
