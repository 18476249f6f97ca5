#include "machine/op_time.h"

#include "machine/attention_model.h"
#include "machine/calibration.h"
#include "machine/matmul_model.h"
#include "machine/memory_model.h"

namespace shardscape {
namespace {

double training_factor(const Machine& machine, const Kernels& kernels, DType type) {
  if (!machine.training) return 1;
  double factor = 1;
  for (const TrainingFactor& f : kernels.data.training) {
    if (f.dtype == type) return f.factor;
    if (f.dtype == DType::BF16 && type == DType::FP16) factor = f.factor;  // the same units at the same rate
  }
  return factor;
}

double kernel_factor(const Kernels& kernels, std::string_view kernel) {
  for (const KernelFactor& k : kernels.data.attention_kernels) {
    if (k.kernel == kernel) return k.factor;
  }
  return 1;
}

// Scores = QK, result = PV; gradients of P, V, Q and K. No mask spares anything.
double unfused_attention_seconds(const Machine& machine, const AttentionShape& s) {
  const auto product = [&](int64_t m, int64_t n, int64_t k) { return matmul_seconds(machine, {s.batch * s.heads, m, n, k, s.compute, s.compute}); };
  const auto scores = static_cast<double>(s.batch * s.heads) * static_cast<double>(s.queries) * static_cast<double>(s.keys);
  const double between = memory_bound_seconds(machine, scores * s.score_bytes);
  if (!s.backward) return product(s.queries, s.keys, s.head_dim) + product(s.queries, s.value_dim, s.keys) + between;
  return product(s.queries, s.keys, s.value_dim) + product(s.keys, s.value_dim, s.queries) + product(s.queries, s.head_dim, s.keys) +
         product(s.keys, s.head_dim, s.queries) + between;
}

}  // namespace

double matmul_seconds(const Machine& machine, const MatmulShape& shape) {
  if (shape.batch * shape.m * shape.n * shape.k == 0) return 0;
  const Kernels& kernels = kernels_of(*machine.accelerator);
  return calibrated_matmul_seconds(*machine.accelerator, *kernels.matmul[static_cast<size_t>(shape.compute)], shape) *
         training_factor(machine, kernels, shape.compute);
}

double attention_seconds(const Machine& machine, const AttentionShape& shape) {
  if (shape.batch * shape.heads * shape.queries * shape.keys == 0) return 0;
  if (shape.score_bytes > 0) return unfused_attention_seconds(machine, shape);
  const Kernels& kernels = kernels_of(*machine.accelerator);
  return calibrated_attention_seconds(*machine.accelerator, kernels.of(attention_pass(shape), shape.causal), shape) *
         training_factor(machine, kernels, shape.compute) * kernel_factor(kernels, shape.kernel);
}

double launch_seconds(const Machine& machine) { return !machine.training ? 0 : kernels_of(*machine.accelerator).data.host_launch_us * 1e-6; }

double memory_bound_seconds(const Machine& machine, double bytes) {
  if (bytes == 0) return 0;
  return calibrated_memory_seconds(*machine.accelerator, *kernels_of(*machine.accelerator).data.memory, bytes);
}

}  // namespace shardscape
