// Models of presets with sizes of a few numbers: small enough to execute with real numbers.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "design/design.h"

namespace shardscape::test {

// Small values of one size of models.
struct SmallSize {
  int64_t ModelSpec::*member;
  int64_t tiny;                  // in tiny_preset(); layers with larger values have multiples
  std::vector<int64_t> drawn{};  // random values; empty: others than random_designs draw it
};
// Every size of a model once. Values of random designs are drawn in this order.
const std::vector<SmallSize>& small_sizes();

// The preset with small sizes, with one layer of each kind that it has, and with one module of multi-token
// prediction where the architecture has some. Other sizes that are 0 stay 0. Weights have the model's data
// type.
Design tiny_preset(const std::string& preset);

// A preset for each architecture of presets, with its options; the first in the order of the library.
std::vector<std::string> presets_by_architecture();

}  // namespace shardscape::test
