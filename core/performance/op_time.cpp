#include "performance/op_time.h"

#include <algorithm>
#include <utility>

#include "performance/attention_model.h"
#include "performance/calibration.h"
#include "performance/matmul_model.h"
#include "performance/memory_model.h"

namespace shardscape {
namespace {

// The entry of a type, otherwise the entry of bfloat16: the same units run at the same rate or a multiple of
// it, with the same power. nullptr without an entry, and for inference.
template <typename Entry>
const Entry* in_training(const Machine& machine, const std::vector<Entry>& list, DType type) {
  if (!machine.training) return nullptr;
  const Entry* found = nullptr;
  for (const Entry& entry : list) {
    if (entry.dtype == type) return &entry;
    if (entry.dtype == DType::BF16 && type != DType::FP32) found = &entry;
  }
  return found;
}

double training_factor(const Machine& machine, const Kernels& kernels, DType type) {
  const TrainingFactor* factor = in_training(machine, kernels.data.training, type);
  return (factor ? factor->factor : 1) * machine.code_base_factor * machine.slowest_rank;
}

// Seconds of a matrix product in training: not faster than the power limit allows. An accumulating kernel
// also reads its output before it ends, and writes all of it.
double sustained_matmul_seconds(const Accelerator& accelerator, const MatmulCalibration& constants,
                                const TrainingMatmuls& products, MatmulShape shape) {
  const bool accumulates = std::exchange(shape.accumulates, false);
  const double results = static_cast<double>(shape.batch) * static_cast<double>(shape.m) *
                         static_cast<double>(shape.n);
  const double flops = 2 * results * static_cast<double>(shape.k),
               traffic = accumulates ? 2 * results * dtype_bytes(shape.output) : 0;
  const double seconds = std::max(calibrated_matmul_seconds(accelerator, constants, shape),
                                  flops / (products.sustained * peak_flops(accelerator, shape.compute))) +
                         products.accumulate * traffic / (accelerator.memory_gbps * 1e9);
  return seconds * (shape.concurrent_expert ? products.experts : 1);
}

bool is_empty(const MatmulShape& shape) {
  return shape.batch == 0 || shape.m == 0 || shape.n == 0 || shape.k == 0;
}

// Whether rows of an operand or of the result begin at odd multiples of 2 bytes. Rows of tokens lie along the
// features, so the number of tokens does not matter.
bool is_unaligned(const MatmulShape& shape) {
  if (is_quantized(shape.compute)) return false;
  const int64_t elements = 4 / dtype_bytes(shape.compute);
  return shape.n % elements != 0 || (shape.accumulates ? shape.m : shape.k) % elements != 0;
}

// The least seconds of a GEMM in training whose matrices are not aligned (TrainingFactor::unaligned_share).
double unaligned_seconds(const Machine& machine, const Kernels& kernels, const MatmulShape& shape) {
  const TrainingFactor* factor = in_training(machine, kernels.data.training, shape.compute);
  if (!factor || factor->unaligned_share <= 0 || !is_unaligned(shape)) return 0;
  const double flops = 2 * static_cast<double>(shape.batch) * static_cast<double>(shape.m) *
                       static_cast<double>(shape.n) * static_cast<double>(shape.k);
  return flops / (factor->unaligned_share * peak_flops(*machine.accelerator, shape.compute));
}

double kernel_factor(const Kernels& kernels, std::string_view kernel) {
  for (const KernelFactor& k : kernels.data.attention_kernels) {
    if (k.kernel == kernel) return k.factor;
  }
  return 1;
}

// Unfused attention. Forward: scores = QK, result = PV. Backward: gradients of P, V, Q and K. A mask saves no
// work. Batched GEMMs with rows that are not multiples of 16 bytes do not run on tensor cores (NVIDIA,
// "Matrix Multiplication Background User's Guide", section "Requirements to Use Tensor Cores", cuBLAS before
// 11). With heads of 108 and 150 numbers, the layout tests before BLOOM took 41 s more for 4e14 FLOPs: 10
// TFLOP/s.
double unfused_attention_seconds(const Machine& machine, const AttentionShape& s) {
  constexpr int64_t kAlignment = 16;
  const bool aligned = s.head_dim * dtype_bytes(s.compute) % kAlignment == 0 &&
                       s.value_dim * dtype_bytes(s.compute) % kAlignment == 0;
  const DType compute = aligned ? s.compute : DType::FP32;
  const auto product = [&](int64_t m, int64_t n, int64_t k) {
    return matmul_seconds(machine, {s.batch * s.heads, m, n, k, compute, s.compute});
  };
  const auto scores = static_cast<double>(s.batch) * static_cast<double>(s.heads) *
                      static_cast<double>(s.queries) * static_cast<double>(s.keys);
  const double between = memory_bound_seconds(machine, scores * s.score_bytes);
  if (!s.backward)
    return product(s.queries, s.keys, s.head_dim) + product(s.queries, s.value_dim, s.keys) + between;
  return product(s.queries, s.keys, s.value_dim) + product(s.keys, s.value_dim, s.queries) +
         product(s.queries, s.head_dim, s.keys) + product(s.keys, s.head_dim, s.queries) + between;
}

}  // namespace

double matmul_seconds(const Machine& machine, const MatmulShape& shape) {
  if (is_empty(shape)) return 0;
  const Accelerator& accelerator = *machine.accelerator;
  const Kernels& kernels = kernels_of(accelerator);
  const MatmulCalibration& constants = *kernels.matmul[static_cast<size_t>(shape.compute)];
  const TrainingMatmuls* products = in_training(machine, kernels.data.training_products, shape.compute);
  const double aligned = products ? sustained_matmul_seconds(accelerator, constants, *products, shape)
                                  : calibrated_matmul_seconds(accelerator, constants, shape);
  return std::max(aligned, unaligned_seconds(machine, kernels, shape)) *
         training_factor(machine, kernels, shape.compute);
}

double expert_matmul_seconds(const Machine& machine, const MatmulShape& shape) {
  if (is_empty(shape)) return 0;
  const Accelerator& accelerator = *machine.accelerator;
  const Kernels& kernels = kernels_of(accelerator);
  return grouped_matmul_seconds(accelerator, *kernels.matmul[static_cast<size_t>(shape.compute)], shape);
}

double attention_seconds(const Machine& machine, const AttentionShape& shape) {
  if (shape.batch * shape.heads * shape.queries * shape.keys == 0) return 0;
  if (shape.score_bytes > 0) return unfused_attention_seconds(machine, shape);
  const Kernels& kernels = kernels_of(*machine.accelerator);
  return calibrated_attention_seconds(
             *machine.accelerator, kernels.of(attention_pass(shape), shape.causal, machine.training), shape) *
         training_factor(machine, kernels, shape.compute) * kernel_factor(kernels, shape.kernel);
}

double launch_seconds(const Machine& machine) {
  if (!machine.training) return 0;
  return machine.host_launch_us.value_or(kernels_of(*machine.accelerator).data.host_launch_us) * 1e-6;
}

double memory_bound_seconds(const Machine& machine, double bytes) {
  if (bytes == 0) return 0;
  return calibrated_memory_seconds(*machine.accelerator, *kernels_of(*machine.accelerator).data.memory,
                                   bytes) *
         machine.slowest_rank;
}

double shortest_kernel_seconds(const Machine& machine) {
  return kernels_of(*machine.accelerator).data.memory->launch_us * 1e-6 * machine.slowest_rank;
}

double routing_seconds(const Machine& machine, double bytes) {
  const MemoryCalibration& memory = *kernels_of(*machine.accelerator).data.memory;
  if (bytes == 0 || !machine.training || memory.routing_share <= 0)
    return memory_bound_seconds(machine, bytes);
  return (memory.launch_us * 1e-6 + bytes / (memory.routing_share * machine.accelerator->memory_gbps * 1e9)) *
         machine.slowest_rank;
}

}  // namespace shardscape
