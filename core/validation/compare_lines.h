// Lines of an audit from the two sides of a comparison. Private to core/audit.
#pragma once

#include <string>
#include <vector>

#include "validation/audit.h"
#include "validation/volumes.h"

namespace shardscape {

// Passes when all numbers are equal.
AuditLine exact_line(std::string section, std::string what, std::vector<AuditNumber> numbers);
// Bytes kept for backward: allocators round and code bases share a few masks, so one percent is allowed.
AuditLine near_line(std::string what, Wide expected, Wide got);
// Names the first place where the lists differ.
AuditLine order_line(std::string what, const std::vector<std::string>& expected,
                     const std::vector<std::string>& got);
// One line per kind of collective on either side.
void compare_volumes(const Volumes& expected, const Volumes& got, std::vector<AuditLine>& lines);

}  // namespace shardscape
