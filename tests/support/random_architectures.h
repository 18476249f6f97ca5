// Random architectures: layers, heads and prediction modules composed from all blocks and their options.
#pragma once

#include <random>
#include <set>
#include <string>
#include <vector>

#include "design/design.h"

namespace shardscape::test {

// The architecture as the text of a file of models/architectures. One to four kinds of layers, each with a
// random mixer, feed-forward block, norms and frame.
std::string random_architecture(const std::string& id, std::mt19937& random);

struct ComposedArchitectures {
  std::vector<std::string> ids;
  std::set<std::string> calls;  // blocks, and options of blocks: "self_attention", "self_attention; rope"
};
// Writes random architectures to the folder of a person's models below home, and lets the model library read
// them, which must be its first use. Throws std::runtime_error where the library refuses one.
ComposedArchitectures compose_architectures(const std::string& home, int count, unsigned seed);

// A model of an architecture of the library with tiny sizes (tiny_models.h), one layer of each kind or two of
// the only kind.
Design composed_design(const std::string& architecture);

}  // namespace shardscape::test
