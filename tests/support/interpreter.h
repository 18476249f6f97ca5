// Runs the placed graph and schedule of a design on simulated ranks with real numbers: a proof by execution.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "design/design.h"
#include "graph/graph.h"
#include "model/library.h"
#include "support/real_tensor.h"

namespace shardscape::test {

// Parameters of the whole model by name, "layer1.attention.wq". A tied parameter appears once.
using Parameters = std::map<std::string, RealTensor>;

// Unsharded inference caches by layer, tensor and microbatch (support/caches.h).
using Caches = std::map<std::string, RealTensor>;

struct RunResult {
  double loss = 0;          // mean over all tokens
  RealTensor token_losses;  // [m, b·dp, S]; in inference the logits [m, b·dp, 1, Vp]
  RealTensor tokens;        // [m, b·dp, S], input tokens
  Caches caches;            // inference: after the step
  RealTensor last_hidden;   // [m, b·dp, S, D], input of the head; [m, b·dp, S, n, D] with several streams
  Parameters gradients;     // reassembled from all ranks; throws if replicas disagree
};

Parameters random_parameters(const Design& design, unsigned seed,
                             const ModelLibrary& library = ModelLibrary::instance());

// A mistake that a test makes in a graph.
using GraphChange = std::function<void(std::vector<Segment>&)>;

// Runs one step in the order of each stage's schedule: forward, backward, gradient reduction. Backward ops
// read only parameters, gradients and tensors that the graph marks as saved. Throws std::runtime_error on any
// disagreement.
RunResult run_step(const Design& design, const Parameters& parameters, unsigned data_seed,
                   bool backward = true, const ModelLibrary& library = ModelLibrary::instance(),
                   const GraphChange& change = {});

// Input of inference. Prefill reads the first S tokens, decode the token after the cached ones.
struct Serving {
  RealTensor tokens;  // [m, b·dp, length of a sequence]
  Caches past;        // decode only
};
RunResult run_inference(const Design& design, const Parameters& parameters, const Serving& serving,
                        const ModelLibrary& library = ModelLibrary::instance());

}  // namespace shardscape::test
