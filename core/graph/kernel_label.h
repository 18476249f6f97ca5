// Names of kernels, for people.
#pragma once

#include <string>

#include "graph/graph.h"

namespace shardscape {

// The label of the op: "Softmax"; its name where it has no label.
const std::string& op_label(const Op& op);
// A GEMM: the label of all GEMMs of its kernel, "QKV projection", "Gate and up projection, weight gradient".
// Any other op: its own label.
std::string kernel_label(const Segment& segment, OpId op);

}  // namespace shardscape
