// Searches through spaces of designs, with results as columns of NumPy.
#pragma once

#include <pybind11/pybind11.h>

#include "design/design.h"

namespace shardscape {

// dimensions: knob id (or "model") -> a list of values, or a text as `shardscape-cli explore` takes it.
pybind11::dict python_search(const Design& base, const pybind11::object& gpus, const std::string& objective,
                             int64_t top, const std::vector<std::string>& constraints, int threads,
                             const pybind11::kwargs& dimensions);

}  // namespace shardscape
