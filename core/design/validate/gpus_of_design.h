// Another number of GPUs for a design.
#pragma once

#include <cstdint>

#include "design/design.h"

namespace shardscape {

// tp, cp and pp keep the greatest common divisor with the GPUs that are left, and dp gets the rest.
Design design_on_gpus(Design design, int64_t gpus);

// Settings that follow the number of replicas, changed only where the design is invalid otherwise:
// - ep becomes the largest of its divisors that the ranks of a stage hold;
// - the microbatch becomes the largest valid size up to the present one;
// - in inference, the batch becomes the nearest number of sequences that splits over the replicas. A global
//   batch of training is a choice of the person and stays.
// Returns the design unchanged if it is valid, or if these settings do not make it valid.
Design fitted_to_replicas(const Design& design);

}  // namespace shardscape
