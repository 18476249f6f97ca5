// Output of `shardscape-cli audit`: text for a terminal, and JSON.
#pragma once

#include <string>
#include <vector>

#include "validation/audit.h"

namespace shardscape {

// Unmapped fields, one row per compared quantity, and the verdict.
std::string audit_text(const Audit& audit);
// One row per recording, then the number of matches.
std::string audit_summary(const std::vector<Audit>& audits);
std::string audit_json(const std::vector<Audit>& audits);

}  // namespace shardscape
