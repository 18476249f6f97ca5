#include "app/cli/json_value.h"

#include <cstdint>

namespace shardscape {

nlohmann::ordered_json json_number(Wide value) {
  if (value >= INT64_MIN && value <= INT64_MAX) return static_cast<int64_t>(value);
  return to_string(value);
}

nlohmann::ordered_json json_quantity(Wide value, const Expr& formula) {
  return {{"value", json_number(value)}, {"formula", formula.text()}};
}

}  // namespace shardscape
