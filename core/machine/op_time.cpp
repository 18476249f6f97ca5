#include "machine/op_time.h"

#include <algorithm>

namespace shardscape {
namespace {

double seconds_of_bytes(const Machine& machine, double bytes) { return bytes / (machine.accelerator->memory_gbps * 1e9); }
double seconds_of_flops(const Machine& machine, double flops) { return flops / (machine.accelerator->bf16_tflops * 1e12); }

}  // namespace

double matmul_seconds(const Machine& machine, const MatmulShape& s) {
  const auto batch = static_cast<double>(s.batch), m = static_cast<double>(s.m), n = static_cast<double>(s.n), k = static_cast<double>(s.k);
  const double bytes = batch * (2 * (m * k + k * n) + dtype_bytes(s.output) * (s.accumulates ? 2 : 1) * m * n);
  return std::max(seconds_of_flops(machine, 2 * batch * m * n * k), seconds_of_bytes(machine, bytes));
}

double attention_seconds(const Machine& machine, const AttentionShape& s) {
  const double pairs = static_cast<double>(s.queries) * static_cast<double>(s.keys) * (s.causal ? 0.5 : 1);
  const double products = s.backward ? 2.5 : 1;
  const double flops = 2 * pairs * static_cast<double>(s.batch * s.heads * (s.head_dim + s.value_dim)) * products;
  return seconds_of_flops(machine, flops);
}

double memory_bound_seconds(const Machine& machine, double bytes) { return seconds_of_bytes(machine, bytes); }

}  // namespace shardscape
