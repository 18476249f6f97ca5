#include "memory/runtime_memory.h"

#include <string>

namespace shardscape {
namespace {

constexpr int64_t kMiB = int64_t{1} << 20;
// cuBLAS workspaces. PyTorch has the large one on AMD, Hopper and, in newer versions, Blackwell
// (aten/src/ATen/cuda/CublasHandlePool.cpp, parseChosenWorkspaceSize). Transformer Engine 2.11 has it from
// Hopper on (pytorch/cpp_extensions/gemm.py, get_cublas_workspace_size_bytes).
constexpr int64_t kLargeWorkspace = 32 * kMiB, kTorchWorkspace = 4096 * 1024 * 2 + 16 * 1024 * 8,
                  kEngineWorkspace = 4 * kMiB;
// PyTorch has a handle, and so a workspace, for each thread. Autograd runs the backward on its own thread.
constexpr int64_t kTrainingHandles = 2;
// Transformer Engine runs the GEMMs of experts on this many streams, each with its own workspace.
constexpr int64_t kGroupedStreams = 4;
// A CUDA context with the kernels of PyTorch and its libraries, as nvidia-smi shows before the first tensor.
constexpr int64_t kContext = 550 * kMiB;
// NCCL: per channel, buffers of the simple protocol (NCCL_BUFFSIZE) and of LL and LL128, for both neighbours
// of a ring.
constexpr int64_t kChannelBuffers = 4 * kMiB + 2 * kMiB, kChannels = 16;

bool large_workspaces(const std::shared_ptr<const Accelerator>& accelerator) {
  if (!accelerator) return false;
  for (const char* old : {"a100", "a800", "v100"})
    if (accelerator->id.find(old) != std::string::npos) return false;
  return true;
}

// Bytes of one cuBLAS handle of PyTorch.
int64_t handle_workspace(const Report& report) {
  if (const int64_t set = report.design.workload.cublas_workspace; set > 0) return set * kMiB;
  const bool ada = report.accelerator && report.accelerator->family == "ada";
  return large_workspaces(report.accelerator) && !ada ? kLargeWorkspace : kTorchWorkspace;
}

}  // namespace

int64_t workspace_bytes(const Report& report, const KernelProfile& profile) {
  const bool large = large_workspaces(report.accelerator);
  int64_t out = (trains(report.design) ? kTrainingHandles : 1) * handle_workspace(report);
  if (profile.weight_gradient != WeightGradient::SharedDummy) return out;
  const int64_t engine = large ? kLargeWorkspace + 1024 : kEngineWorkspace;
  return out + engine + (report.design.model.experts > 0 ? kGroupedStreams * engine : 0);
}

int64_t context_bytes() { return kContext; }

int64_t communicator_bytes(const Report& report) {
  const ParallelSpec& p = report.design.parallel;
  int64_t groups = 0;
  for (const int64_t degree : {p.tp, p.cp, p.pp, p.dp, p.ep}) groups += degree > 1;
  if (p.dp > 1 && p.cp > 1) ++groups;
  if (report.graph().structure.dcp_groups) ++groups;
  return groups * kChannels * kChannelBuffers;
}

}  // namespace shardscape
