// Runs a design's placed graph and schedule on simulated ranks with real numbers: a proof by execution.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "design/design.h"
#include "model/library.h"
#include "support/real_tensor.h"

namespace shardscape::test {

// Parameters of the whole model by name, "layer1.attention.wq"; a tied one appears once.
using Parameters = std::map<std::string, RealTensor>;

// What inference keeps, whole: by layer, tensor and microbatch (support/caches.h).
using Caches = std::map<std::string, RealTensor>;

struct RunResult {
  double loss = 0;          // mean over all tokens
  RealTensor token_losses;  // [m, b·dp, S]; in inference logits, [m, b·dp, 1, Vp]
  RealTensor tokens;        // [m, b·dp, S], what was read
  Caches caches;            // inference: as the step leaves them
  RealTensor last_hidden;   // [m, b·dp, S, D], what goes into the head
  Parameters gradients;     // reassembled from all ranks; replicas must agree or the run throws
};

Parameters random_parameters(const Design& design, unsigned seed,
                             const ModelLibrary& library = ModelLibrary::instance());

// One step: forward, backward, gradient reduction, in the order of the schedule of every stage. Backward ops
// see only parameters, gradients and what the graph says is saved. Throws std::runtime_error on any
// disagreement.
RunResult run_step(const Design& design, const Parameters& parameters, unsigned data_seed,
                   bool backward = true, const ModelLibrary& library = ModelLibrary::instance());

// What inference serves: prefill reads the first S of the tokens, decode the one behind those that are kept.
struct Serving {
  RealTensor tokens;  // [m, b·dp, all of a sequence]
  Caches past;        // of decode
};
RunResult run_inference(const Design& design, const Parameters& parameters, const Serving& serving,
                        const ModelLibrary& library = ModelLibrary::instance());

}  // namespace shardscape::test
