// Numbers and formulas as JSON, for reports and the command line. Private to .cpp files, because this header
// includes the JSON library.
#pragma once

#include <nlohmann/json.hpp>

#include "base/wide.h"
#include "symbolic/expr.h"

namespace shardscape {

// A JSON integer within 64 bits; beyond 64 bits a string of decimal digits.
inline nlohmann::ordered_json json_number(Wide value) {
  if (value >= INT64_MIN && value <= INT64_MAX) return static_cast<int64_t>(value);
  return to_string(value);
}

// {"value": ..., "formula": "..."}
inline nlohmann::ordered_json json_quantity(Wide value, const Expr& formula) {
  return {{"value", json_number(value)}, {"formula", formula.text()}};
}

}  // namespace shardscape
