// What a tensor of a graph is.
#pragma once

#include <cstdint>

namespace shardscape {

// Cache: lives from step to step, in its own storage. Dequantized: a copy of frozen weights that one GEMM
// reads.
enum class TensorRole : uint8_t {
  Input,
  Parameter,
  Activation,
  Gradient,
  ParameterGradient,
  Constant,
  Statistic,
  Cache,
  Dequantized
};
inline bool is_weights(TensorRole role) {
  return role == TensorRole::Parameter || role == TensorRole::Dequantized;
}

}  // namespace shardscape
