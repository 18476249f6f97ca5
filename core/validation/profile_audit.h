// Audit of a profile: its collectives against those of a design.
#pragma once

#include <optional>
#include <string>

#include "profile/profile_step.h"
#include "validation/audit.h"

namespace shardscape {

// One line per kind, group size and type: calls and bytes of full buffers, per step of the rank. A profile
// does not say which pass or axis a collective belongs to. Lines that do not decide: sends and receives,
// which NCCL batches; and calls of at most 1 KiB that the design does not have: losses, norms, flags. Without
// recorded sizes, only calls are compared. file: names the audit. rank: of the profile; nullopt: stage 0.
Audit audit_profile(const std::string& file, const ProfiledStep& step, std::optional<int64_t> rank,
                    std::shared_ptr<const Report> report);

}  // namespace shardscape
