// Names of designs that state the machine: "Llama 3 70B on 64 H100".
#pragma once

#include <string>

#include "design/design.h"

namespace shardscape {

// "H100" for "h100-sxm-80gb": the name that people type, in capitals.
std::string short_accelerator_name(const std::string& accelerator);

// Corrects a name that the program has made, a model and the machine, after the GPUs or the accelerator have
// changed: "Llama 3 70B on 64 H100" becomes "Llama 3 70B on 128 H200", "... on 8 GPUs" becomes
// "... on 16 GPUs". A name that does not begin with the name of the design's preset stays.
void correct_machine_name(Design& design);

}  // namespace shardscape
