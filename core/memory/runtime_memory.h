// Device memory that is not a tensor of the model: runtime, libraries and communicators. Results are bytes of
// one rank.
#pragma once

#include <cstdint>

#include "model/kernel_profile.h"
#include "plan/report.h"

namespace shardscape {

// Workspaces of matrix products. They are permanent blocks of the allocator.
int64_t workspace_bytes(const Report& report, const KernelProfile& profile);
// Outside the allocator: the CUDA context with its kernels, and the buffers of NCCL communicators.
int64_t context_bytes();
int64_t communicator_bytes(const Report& report);

}  // namespace shardscape
