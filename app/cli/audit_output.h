// What `shardscape-cli audit` prints: for a terminal and as JSON.
#pragma once

#include <string>
#include <vector>

#include "validation/audit.h"

namespace shardscape {

// What was not mapped, then one row per compared quantity, then the verdict.
std::string audit_text(const Audit& audit);
// One row per recording, then how many match.
std::string audit_summary(const std::vector<Audit>& audits);
std::string audit_json(const std::vector<Audit>& audits);

}  // namespace shardscape
