// A forward whose numbers differ from those of its report: one engine step over prompts and generated tokens.
#pragma once

#include <vector>

namespace shardscape {

class Lowering;

// Factors for the compute nodes of a forward.
struct ForwardScale {
  struct Attention {
    double flops = 1, bytes = 1, seconds = 1;
  };
  struct Seconds {
    double tokens = 1;     // of all nodes except the next two
    double attention = 1;  // of TimeCategory::Attention, times Attention::seconds
    double head = 1;
  };
  std::vector<Attention> attention;  // by segment of the graph, of TimeCategory::Attention; empty: 1
  std::vector<Seconds> stages;       // by stage of the pipeline; empty: 1
};

// Parts of a forward that come from elsewhere than its report. Only of a lowering with durations.
struct ForwardParts {
  const Lowering*
      head = nullptr;  // gives the head; null: the report of the forward does. Has the same roles.
  ForwardScale scale{};
};

}  // namespace shardscape
