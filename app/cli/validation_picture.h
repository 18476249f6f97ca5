// The picture of a validation: predicted over measured values.
#pragma once

#include <string>

#include "validation/validation.h"

namespace shardscape {

// SVG with one square per metric and one dot per row, on logarithmic axes.
std::string validation_svg(const Validation& validation);

}  // namespace shardscape
