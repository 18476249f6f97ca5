// What the runtime, libraries and communicators hold on a device beside tensors of the model.
#pragma once

#include <cstdint>

#include "model/kernel_profile.h"
#include "plan/report.h"

namespace shardscape {

// Buffers in the allocator that stay once made: workspaces of matrix products.
int64_t workspace_bytes(const Report& report, const KernelProfile& profile);
// Outside of it: the CUDA context with its kernels, and buffers of NCCL communicators.
int64_t context_bytes();
int64_t communicator_bytes(const Report& report);

}  // namespace shardscape
