// How numbers stand in the command line's JSON. Include in .cpp files only.
#pragma once

#include <nlohmann/json.hpp>

#include "base/wide.h"
#include "symbolic/expr.h"

namespace shardscape {

// An integer as far as 64 bits reach, beyond that its decimal digits as text; as in the report.
nlohmann::ordered_json json_number(Wide value);
// {"value": 8030261248, "formula": "..."}
nlohmann::ordered_json json_quantity(Wide value, const Expr& formula);

}  // namespace shardscape
