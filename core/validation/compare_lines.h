// Lines of an audit, from recorded and computed values. Private to core/validation.
#pragma once

#include <string>
#include <vector>

#include "validation/audit.h"
#include "validation/volumes.h"

namespace shardscape {

// Passes if all numbers are equal.
AuditLine exact_line(std::string section, std::string what, std::vector<AuditNumber> numbers);
// Bytes saved for the backward. Passes within one percent: allocators round, and code bases share a few
// masks.
AuditLine near_line(std::string what, Wide expected, Wide got);
// Reports the first position at which the lists differ.
AuditLine order_line(std::string what, const std::vector<std::string>& expected,
                     const std::vector<std::string>& got);
// Appends one line per key of either side.
void compare_volumes(const Volumes& expected, const Volumes& got, std::vector<AuditLine>& lines);

}  // namespace shardscape
